lapse_test(history
  SOURCES history.cpp
  DEPENDS lapse_test_histories
  RANKS 1 2 3 4
  DOMAINS rank 2)

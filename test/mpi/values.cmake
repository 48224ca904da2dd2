lapse_test(test_values
  SOURCES values.cpp
  DEPENDS lapse::adapm
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

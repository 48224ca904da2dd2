lapse_test(test_clocks
  SOURCES clocks.cpp clocks_attached.cpp
  DEPENDS lapse::adapm
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

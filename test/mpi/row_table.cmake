lapse_test(test_row_table
  SOURCES row_table.cpp
  DEPENDS lapse::ps
  RANKS 1 2 3
  DOMAINS rank
  TIMEOUT 60)

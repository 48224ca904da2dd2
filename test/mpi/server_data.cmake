lapse_test(test_server_data
  SOURCES server_elements.cpp server_lengths.cpp server_limits.cpp server_rules.cpp server_sparse.cpp
  DEPENDS lapse::jobs
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

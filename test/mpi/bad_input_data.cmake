lapse_test(test_bad_input_data
  SOURCES bad_input_functions.cpp bad_input_leases.cpp bad_input_memory.cpp bad_input_rules.cpp
          bad_input_sparse.cpp server_stall.cpp
  DEPENDS lapse::jobs
  RANKS 1 2 3
  DOMAINS rank 2
  TIMEOUT 60)

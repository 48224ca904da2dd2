lapse_test(test_adapm_manager
  SOURCES adapm_manager.cpp adapm_bad_input.cpp adapm_observability.cpp adapm_trace.cpp
  DEPENDS lapse::adapm
  RANKS 1 2 3
  DOMAINS rank 2
  TIMEOUT 60)

lapse_test(test_adapm_manager
  SOURCES adapm_manager.cpp adapm_bad_input.cpp adapm_observability.cpp adapm_trace.cpp
  DEPENDS lapse::adapm
  RANKS 1 2 3
  DOMAINS rank 2
  TIMEOUT 60)
lapse_test(test_adapm_copies
  SOURCES adapm_calls.cpp adapm_elements.cpp adapm_limits.cpp adapm_phases.cpp adapm_rules.cpp adapm_sync.cpp
  DEPENDS lapse::adapm
  RANKS 3 4
  DOMAINS rank 2
  TIMEOUT 60)
lapse_test(test_adapm_failures
  SOURCES adapm_failures.cpp
  DEPENDS lapse::adapm
  RANKS 2 3
  TIMEOUT 60)
lapse_test(test_adapm_sampling
  SOURCES adapm_sampling.cpp adapm_sampling_schemes.cpp adapm_bad_samples.cpp
  DEPENDS lapse::adapm
  RANKS 1 2 4
  DOMAINS rank 2
  TIMEOUT 60)
lapse_test(test_adapm_causes
  SOURCES adapm_causes.cpp
  DEPENDS lapse::adapm fmt::fmt
  RANKS 2 3
  TIMEOUT 60)

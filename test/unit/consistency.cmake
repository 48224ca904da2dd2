lapse_test(test_consistency SOURCES consistency_policy.cpp consistency_push_magnitude.cpp consistency_read_cache.cpp consistency_value_gate.cpp
  DEPENDS lapse::consistency)

lapse_test(test_core SOURCES core_types.cpp core_error.cpp DEPENDS lapse::core)

lapse_test(test_core
  SOURCES core_bytes.cpp core_error.cpp core_invariant_divisor.cpp core_copy_series.cpp core_nearest_name.cpp core_option_sources.cpp core_options.cpp core_process.cpp core_random.cpp core_regions.cpp core_role_table.cpp
    core_statistics.cpp core_topology.cpp core_types.cpp
  THREADED core_library_thread.cpp core_log.cpp
  DEPENDS lapse::core)

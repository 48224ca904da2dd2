lapse_test(test_core
  SOURCES core_bytes.cpp core_error.cpp core_invariant_divisor.cpp core_copy_series.cpp core_nearest_names.cpp core_option_sources.cpp core_options.cpp core_process.cpp core_random.cpp core_regions.cpp core_role_table.cpp
    core_statistics.cpp core_topology.cpp core_types.cpp
  THREADED core_library_thread.cpp core_log.cpp
  DEPENDS lapse::core)

if(NOT LAPSE_SANITIZER STREQUAL "thread")
  lapse_add_test(options_document COMMAND lapse_options_doc --check "${PROJECT_SOURCE_DIR}/docs/options.md"
    LABELS unit TIMEOUT 10)
  add_dependencies(tests_without_mpi lapse_options_doc)
endif()

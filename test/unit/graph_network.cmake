lapse_test(test_graph_network
  SOURCES
    graph_network_files.cpp
    graph_network_graph.cpp
    graph_network_partition.cpp
    graph_network_sampler.cpp
  DEPENDS lapse::app_graph_network lapse::io fmt::fmt)
if(TARGET test_graph_network)  # Not with ThreadSanitizer: it has no threads.
  target_compile_definitions(test_graph_network PRIVATE LAPSE_DATA_FOLDER="${PROJECT_SOURCE_DIR}/apps/data")
endif()

# The library built without METIS.
lapse_test(test_graph_network_missing
  SOURCES graph_network_missing.cpp ${PROJECT_SOURCE_DIR}/apps/graph_network/metis_partition_missing.cpp
  DEPENDS lapse::app_graph_network fmt::fmt)

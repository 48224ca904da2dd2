# Tests of the cluster itself.
add_executable(cluster_hosts hosts.cpp)
# GCC 12 crashes in its interprocedural constants of this file at -O1.
set_source_files_properties(hosts.cpp PROPERTIES COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-fno-ipa-cp>)
target_precompile_headers(cluster_hosts REUSE_FROM lapse_test_main)
target_link_libraries(cluster_hosts PRIVATE lapse_settings lapse_mpi_test_main lapse::transport)

function(lapse_cluster_hosts_test hosts transport placement)
  string(REGEX MATCHALL "[0-9]+" ranks "${placement}")
  list(LENGTH ranks ranks)
  # The launcher passes its environment to the ranks.
  lapse_cluster_program(cluster_hosts HOSTS ${hosts} RANKS ${ranks} TRANSPORT ${transport} TIMEOUT 30
    PROPERTIES ENVIRONMENT "CLUSTER_RANKS=${placement}")
endfunction()
lapse_cluster_hosts_test(2 ob1 "1 2 1 2")
lapse_cluster_hosts_test(2,2 ob1 "1 1 2 2")
lapse_cluster_hosts_test(1,3 ob1 "1 2 2 2")
lapse_cluster_hosts_test(3 ob1 "1 2 3")
lapse_cluster_hosts_test(4 ob1 "1 2 3 4")
lapse_cluster_hosts_test(2,2 ucx "1 1 2 2")

lapse_add_test(cluster.remains
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/remains.sh" "${CMAKE_CURRENT_SOURCE_DIR}/netns_cluster.sh"
          "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh"
  LABELS cluster mpi TIMEOUT 120 PROPERTIES PROCESSORS 2)

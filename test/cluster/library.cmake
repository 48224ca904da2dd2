# The tests of test/mpi, between hosts.
lapse_cluster_program(transport_mpi HOSTS 3 RANKS 3)
lapse_cluster_program(transport_mpi HOSTS 2,2 RANKS 4 TRANSPORT ucx)
lapse_cluster_program(transport_large HOSTS 2 RANKS 2)
lapse_cluster_program(transport_states HOSTS 2 RANKS 2 ARGUMENTS thread_multiple TIMEOUT 30)

lapse_cluster_program(test_server HOSTS 2,2 RANKS 4)
lapse_cluster_program(test_server HOSTS 1,3 RANKS 4 TRANSPORT ucx)
lapse_cluster_program(test_server_code HOSTS 2 RANKS 2)
lapse_cluster_program(test_server_data HOSTS 2 RANKS 4)

lapse_cluster_program(history HOSTS 1,3 RANKS 4)
lapse_cluster_program(history HOSTS 3 RANKS 3)
lapse_cluster_program(history HOSTS 4 RANKS 4)
lapse_cluster_program(history HOSTS 2,2 RANKS 4 TRANSPORT ucx)

# A failure on one host ends the job on all.
function(lapse_cluster_bad_input case hosts ranks text)
  lapse_cluster_test(bad_input.${case} HOSTS ${hosts} RANKS ${ranks} TIMEOUT 60
    COMMAND "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" failure "${text}"
            mpirun -n ${ranks} $<TARGET_FILE:bad_input_program> ${case})
endfunction()
lapse_cluster_bad_input(worker_throws 3 3 "rank 1 failed: the text of the test")
lapse_cluster_bad_input(key_out_of_range 2 2 "key 100 of table 'factors' is out of range on rank 1")

if(LAPSE_BUILD_APPS)
  function(lapse_cluster_factorization hosts ranks transport)
    lapse_cluster_test(matrix_factorization HOSTS ${hosts} RANKS ${ranks} TRANSPORT ${transport}
      COMMAND "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" success "test RMSE 1.5"
              mpirun -n ${ranks} $<TARGET_FILE:matrix_factorization>
              "${PROJECT_SOURCE_DIR}/apps/data/movietweetings/ratings.tsv" --epochs 4 --no-baselines)
  endfunction()
  lapse_cluster_factorization(2,2 4 ob1)
  lapse_cluster_factorization(3 3 ucx)
endif()

# Ranks of a host share memory, found out by the library itself.
lapse_cluster_program(shared_memory_program HOSTS 2,2 RANKS 4 ARGUMENTS hosts)
lapse_cluster_program(shared_memory_program HOSTS 1,3 RANKS 4 ARGUMENTS hosts)
lapse_cluster_program(shared_memory_program HOSTS 2 RANKS 4 ARGUMENTS hosts)

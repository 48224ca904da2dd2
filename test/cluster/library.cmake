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

# Bulk payloads by windows: with osc/pt2pt over TCP, with osc/ucx over UCX.
lapse_cluster_program(rma_rings HOSTS 2 RANKS 2 PROPERTIES ENVIRONMENT "OMPI_MCA_osc=sm,pt2pt")
lapse_cluster_program(rma_rings HOSTS 2 RANKS 2 TRANSPORT ucx)
# Lookups of owners by remote memory access, also with several ranks of a host that share the owners' memory.
lapse_cluster_program(lookups HOSTS 3 RANKS 3 PROPERTIES ENVIRONMENT "OMPI_MCA_osc=sm,pt2pt")
lapse_cluster_program(lookups HOSTS 1,2,1 RANKS 4 PROPERTIES ENVIRONMENT "OMPI_MCA_osc=sm,pt2pt")
lapse_cluster_program(lookups HOSTS 3 RANKS 3 TRANSPORT ucx)
lapse_cluster_program(lookups HOSTS 2,1,1 RANKS 4 TRANSPORT ucx)
function(lapse_cluster_rma_history hosts ranks transport osc)
  lapse_cluster_test(history.rma HOSTS ${hosts} RANKS ${ranks} TRANSPORT ${transport}
    COMMAND env LAPSE_RMA=on OMPI_MCA_osc=${osc} mpirun -n ${ranks} $<TARGET_FILE:history>)
endfunction()
lapse_cluster_rma_history(2 2 ob1 sm,pt2pt)
lapse_cluster_rma_history(1,2,1 4 ob1 sm,pt2pt)
lapse_cluster_rma_history(3 3 ucx sm,ucx)
lapse_cluster_rma_history(1,3 4 ucx sm,ucx)

# Windows that cannot be made: one line that says why and how to fix it, and messages instead.
lapse_cluster_test(bad_input.window HOSTS 2 RANKS 2 TIMEOUT 60
  COMMAND env LAPSE_RMA=on OMPI_MCA_osc=sm "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" success
          "bulk payloads go by message, because windows do not work: on rank 0: MPI_Win_allocate failed"
          mpirun -n 2 $<TARGET_FILE:history> "history: little room*")
# One host whose shared memory is too small for windows.
lapse_cluster_test(bad_input.window_memory HOSTS 1 RANKS 2 TIMEOUT 60 CLUSTER --shm 16m
  COMMAND env LAPSE_RMA=on LAPSE_DOMAIN=rank "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" success
          "bytes of shared memory are wanted and /dev/shm has"
          mpirun -n 2 $<TARGET_FILE:history> "history: little room*")

# A failure on one host ends the job on all hosts.
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
  # Checkpoints that are first written to each host.
  lapse_cluster_test(local_folders HOSTS 2 RANKS 2 TIMEOUT 60
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/local_folders.sh" $<TARGET_FILE:checkpoints_program>)
  lapse_cluster_factorization(2,2 4 ob1)
  lapse_cluster_factorization(3 3 ucx)
endif()

# Ranks of a host share memory, as detected by the library.
lapse_cluster_program(shared_memory_program HOSTS 2,2 RANKS 4 ARGUMENTS hosts)
lapse_cluster_program(shared_memory_program HOSTS 1,3 RANKS 4 ARGUMENTS hosts)
lapse_cluster_program(shared_memory_program HOSTS 2 RANKS 4 ARGUMENTS hosts)

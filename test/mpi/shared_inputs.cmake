# Inputs that only some ranks can read, given to the programs like users do. The launcher of MPICH reads no
# more of standard input than a pipe can hold.
if(LAPSE_BUILD_APPS AND LAPSE_WITH_OPEN_MPI)
  function(lapse_shared_inputs_test what ranks)
    # The programs mostly wait for MPI to start and end.
    lapse_add_test(shared_inputs_program.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
              "${PROJECT_SOURCE_DIR}/test/mpi/shared_inputs_program.sh" ${what} $<TARGET_FILE:matrix_factorization>
              $<TARGET_FILE:knowledge_graph_embeddings> "${PROJECT_SOURCE_DIR}/apps/data" ${LAPSE_LAUNCHER} ${ranks}
      LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 1)
  endfunction()
  lapse_shared_inputs_test(all 2)
  lapse_shared_inputs_test(data 3)
endif()

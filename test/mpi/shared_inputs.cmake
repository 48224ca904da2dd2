# Inputs that not every rank can read, as a user gives them to the programs.
if(LAPSE_BUILD_APPS)
  # They wait for MPI to start and end for most of their time.
  foreach(ranks IN ITEMS 2 3)
    lapse_add_test(shared_inputs_program.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
              "${CMAKE_CURRENT_SOURCE_DIR}/shared_inputs_program.sh" $<TARGET_FILE:matrix_factorization>
              $<TARGET_FILE:knowledge_graph_embeddings> "${PROJECT_SOURCE_DIR}/apps/data" ${LAPSE_LAUNCHER} ${ranks}
      LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 1)
  endforeach()
endif()

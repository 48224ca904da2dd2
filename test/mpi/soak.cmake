# By hand for an hour: mpirun -n 4 soak 3600 <folder> [<seed>]. This test makes several checkpoints.
lapse_program(soak SOURCES soak.cpp DEPENDS lapse::adapm lapse::jobs)
lapse_add_test(soak.ranks_4
  COMMAND env LAPSE_DOMAIN=2
          "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 200 ${LAPSE_LAUNCHER} 4
          $<TARGET_FILE:soak> 30 "${CMAKE_CURRENT_BINARY_DIR}/soak_checkpoints"
  LABELS mpi ranks-4 domains TIMEOUT 260 PROPERTIES PROCESSORS 2)

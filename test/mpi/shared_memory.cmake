lapse_program(shared_memory_program SOURCES shared_memory_copies.cpp shared_memory_program.cpp DEPENDS lapse::adapm)
# MPICH over UCX does not start with so little shared memory, and uses part of the memory that this test
# fills.
set(of_open_mpi "")
if(LAPSE_WITH_OPEN_MPI)
  set(of_open_mpi filled 1m no_osc unknown_osc)
endif()
foreach(environment IN ITEMS 64m full addresses ${of_open_mpi} one_core killed copies killed_in_rounds)
  lapse_add_test(shared_memory.${environment}
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/shared_memory_program.sh" ${environment} $<TARGET_FILE:shared_memory_program>
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} 3
    LABELS mpi ranks-3 domains TIMEOUT 120 PROPERTIES PROCESSORS 2)
endforeach()

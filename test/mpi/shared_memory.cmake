lapse_program(shared_memory_program SOURCES shared_memory_copies.cpp shared_memory_program.cpp DEPENDS lapse::adapm)
foreach(environment IN ITEMS 64m filled full 1m addresses no_osc unknown_osc one_core killed copies killed_in_rounds)
  lapse_add_test(shared_memory.${environment}
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/shared_memory_program.sh" ${environment} $<TARGET_FILE:shared_memory_program>
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} 3
    LABELS mpi ranks-3 domains TIMEOUT 120 PROPERTIES PROCESSORS 2)
endforeach()

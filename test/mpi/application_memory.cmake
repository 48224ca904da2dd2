# Programs of applications that are refused memory end with a line of text, on all ranks.
lapse_program(application_memory SOURCES application_memory.cpp DEPENDS lapse::app_common)
function(lapse_application_memory_case case text)
  lapse_add_test(application_memory.${case}
    COMMAND "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" failure "${text}"
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 ${LAPSE_LAUNCHER} 2
            $<TARGET_FILE:application_memory> ${case}
    LABELS mpi ranks-2 TIMEOUT 90 PROPERTIES PROCESSORS 1)
endfunction()
lapse_application_memory_case(server "error: out of memory on rank 1")
lapse_application_memory_case(worker "error: rank 1 failed: out of memory")
lapse_application_memory_case(main "error: out of memory on rank 1")

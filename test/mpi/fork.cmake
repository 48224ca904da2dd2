# Children that a process of the job makes by fork.
lapse_program(fork_program SOURCES fork_program.cpp DEPENDS lapse::adapm lapse::jobs lapse::io)
foreach(domain IN ITEMS host rank)
  lapse_add_test(fork.domain_${domain}
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} 2
            $<TARGET_FILE:fork_program> "${CMAKE_CURRENT_BINARY_DIR}/fork_${domain}"
    LABELS mpi ranks-2 TIMEOUT 120
    PROPERTIES PROCESSORS 2 ENVIRONMENT "LAPSE_DOMAIN=${domain}")
endforeach()

# Thread levels other than that of the main function of the tests.
lapse_program(lifecycle_program SOURCES lifecycle_program.cpp DEPENDS lapse::jobs)
foreach(level IN ITEMS funneled multiple)
  lapse_add_test(lifecycle.${level}
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 ${LAPSE_LAUNCHER} 3
            $<TARGET_FILE:lifecycle_program> ${level}
    LABELS mpi ranks-3 TIMEOUT 90 PROPERTIES PROCESSORS 2)
endforeach()

# Workers on threads of the application, or on the thread that made the server.
lapse_program(threads_program SOURCES threads_program.cpp DEPENDS lapse::adapm)
foreach(level IN ITEMS single funneled serialized)
  lapse_add_test(threads.${level}
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} 3
            $<TARGET_FILE:threads_program> ${level}
    LABELS mpi ranks-3 TIMEOUT 120 PROPERTIES PROCESSORS 2)
endforeach()

# Servers that are made and closed repeatedly. By hand 1,000: mpirun -n 3 many_servers_program 1000
lapse_program(many_servers_program SOURCES many_servers_program.cpp DEPENDS lapse::adapm)
lapse_add_test(many_servers.ranks_3
  COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} 3
          $<TARGET_FILE:many_servers_program> 60
  LABELS mpi ranks-3 TIMEOUT 120 PROPERTIES PROCESSORS 2)

# The program in README.md is compiled and run.
lapse_example_in(README.md readme_example.cpp)
lapse_program(readme_example SOURCES "${CMAKE_CURRENT_BINARY_DIR}/readme_example.cpp" DEPENDS lapse::jobs)
foreach(ranks IN ITEMS 1 3)
  lapse_processors(processors ${ranks})
  math(EXPR workers "2 * ${ranks}")
  lapse_add_test(readme_example.ranks_${ranks}
    COMMAND bash -c "set -o pipefail && \"$@\" | tee /dev/stderr | grep -x '${workers} workers added up to ${workers}' >/dev/null" --
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${LAPSE_TEST_TIMEOUT}
            ${LAPSE_LAUNCHER} ${ranks} $<TARGET_FILE:readme_example>
    LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS ${processors})
endforeach()
# The generated main function catches and prints exceptions, like that of the guide and of the examples.
if(LAPSE_LAUNCHER MATCHES "mpirun")
  lapse_add_test(readme_example.reports
    COMMAND "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" reported "environment variable LAPSE_DOMAIN: option domain cannot be 'nonsense'"
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 env LAPSE_DOMAIN=nonsense
            ${LAPSE_LAUNCHER} 2 $<TARGET_FILE:readme_example>
    LABELS mpi ranks-2 TIMEOUT 90 PROPERTIES PROCESSORS 1)
endif()

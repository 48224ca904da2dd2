# The program in README.md is compiled and run.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/README.md")
file(READ "${PROJECT_SOURCE_DIR}/README.md" readme)
string(FIND "${readme}" "```cpp\n" begin)
string(SUBSTRING "${readme}" ${begin} -1 readme)
string(LENGTH "```cpp\n" begin)
string(SUBSTRING "${readme}" ${begin} -1 readme)
string(FIND "${readme}" "```" end)
string(SUBSTRING "${readme}" 0 ${end} program)
file(CONFIGURE OUTPUT readme_example.cpp CONTENT "${program}" @ONLY)

lapse_program(readme_example SOURCES "${CMAKE_CURRENT_BINARY_DIR}/readme_example.cpp" DEPENDS lapse::ps)
foreach(ranks IN ITEMS 1 3)
  math(EXPR workers "2 * ${ranks}")
  lapse_add_test(readme_example.ranks_${ranks}
    COMMAND bash -c "set -o pipefail && \"$@\" | tee /dev/stderr | grep -x '${workers} workers added up to ${workers}' >/dev/null" --
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${LAPSE_TEST_TIMEOUT}
            ${LAPSE_LAUNCHER} ${ranks} $<TARGET_FILE:readme_example>
    LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 2)
endforeach()

# The C interface: by a program in C99, and in C11 where compilers deduce the types of values.
add_executable(c_program c_program.c c_elements.c)
set_source_files_properties(c_elements.c PROPERTIES COMPILE_OPTIONS -std=c11)
target_compile_options(c_program PRIVATE -std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(LAPSE_WARNINGS_AS_ERRORS)
  target_compile_options(c_program PRIVATE -Werror)
endif()
target_link_libraries(c_program PRIVATE lapse::c)
foreach(ranks IN ITEMS 1 3)
  lapse_add_test(c_interface.ranks_${ranks}
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} ${ranks}
            $<TARGET_FILE:c_program> "${CMAKE_CURRENT_BINARY_DIR}/c_interface_${ranks}"
    LABELS mpi ranks-${ranks} TIMEOUT 120 PROPERTIES PROCESSORS 2)
endforeach()

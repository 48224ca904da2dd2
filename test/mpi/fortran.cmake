# The Fortran module, tested by a program whose procedures the library calls.
if(LAPSE_FORTRAN_FOUND)
  add_executable(fortran_program fortran_functions.f90 fortran_program.f90 fortran_services.f90 fortran_tables.f90)
  target_link_libraries(fortran_program PRIVATE lapse::fortran)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    target_compile_options(fortran_program PRIVATE -frecursive -Wall -Wextra -Wno-compare-reals -Wno-function-elimination -fopenmp
      $<$<BOOL:${LAPSE_WARNINGS_AS_ERRORS}>:-Werror>)
  endif()
  target_link_options(fortran_program PRIVATE $<$<STREQUAL:${CMAKE_Fortran_COMPILER_ID},GNU>:-fopenmp>)
  set_target_properties(fortran_program PROPERTIES
    Fortran_MODULE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/fortran_modules")
  foreach(ranks IN ITEMS 1 3)
    lapse_add_test(fortran_interface.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} ${ranks}
              $<TARGET_FILE:fortran_program> "${CMAKE_CURRENT_BINARY_DIR}/fortran_interface_${ranks}"
      LABELS mpi ranks-${ranks} TIMEOUT 120 PROPERTIES PROCESSORS 2)
  endforeach()
endif()

lapse_test(matrix_factorization_mpi
  SOURCES matrix_factorization.cpp matrix_factorization_health.cpp matrix_factorization_rules.cpp matrix_factorization_techniques.cpp
  DEPENDS lapse::app_matrix_factorization lapse::io fmt::fmt
  RANKS 1 2 3 4
  DOMAINS rank)

# Runs the program like a user does.
if(LAPSE_BUILD_APPS)
  foreach(ranks IN ITEMS 1 3)
    lapse_processors(processors ${ranks})
    lapse_add_test(matrix_factorization_program.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
              "${CMAKE_CURRENT_SOURCE_DIR}/matrix_factorization_program.sh" $<TARGET_FILE:matrix_factorization>
              "${PROJECT_SOURCE_DIR}/apps/data/movietweetings/ratings.tsv" ${LAPSE_LAUNCHER} ${ranks}
      LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS ${processors})
  endforeach()
endif()

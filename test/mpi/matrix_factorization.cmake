lapse_test(matrix_factorization_mpi
  SOURCES matrix_factorization.cpp matrix_factorization_health.cpp matrix_factorization_ranking.cpp matrix_factorization_rules.cpp matrix_factorization_techniques.cpp
  DEPENDS lapse::app_matrix_factorization lapse::io fmt::fmt
  RANKS 1 2 3 4
  DOMAINS rank)

# Runs the program like a user does. Starting and ending it again and again leaves half of two processors idle.
if(LAPSE_BUILD_APPS)
  foreach(ranks IN ITEMS 1 3)
    lapse_add_test(matrix_factorization_program.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
              "${CMAKE_CURRENT_SOURCE_DIR}/matrix_factorization_program.sh" $<TARGET_FILE:matrix_factorization>
              "${PROJECT_SOURCE_DIR}/apps/data/movietweetings/ratings.tsv" ${LAPSE_LAUNCHER} ${ranks}
      LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 1)
  endforeach()
  lapse_add_test(matrix_factorization_models.ranks_2
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
            "${CMAKE_CURRENT_SOURCE_DIR}/matrix_factorization_models.sh" $<TARGET_FILE:matrix_factorization>
            "${PROJECT_SOURCE_DIR}/apps/data/movietweetings/ratings.tsv" ${LAPSE_LAUNCHER} 2
    LABELS mpi ranks-2 TIMEOUT 180 PROPERTIES PROCESSORS 1)
endif()

lapse_test(word_vectors_mpi
  SOURCES word_vectors.cpp
  DEPENDS lapse::app_word_vectors lapse::io fmt::fmt
  RANKS 1 2 4
  DOMAINS rank)

# Runs the program like a user does. Starting and ending it again and again leaves half of two processors idle.
if(LAPSE_BUILD_APPS)
  foreach(ranks IN ITEMS 1 3)
    lapse_add_test(word_vectors_program.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
              "${CMAKE_CURRENT_SOURCE_DIR}/word_vectors_program.sh"
              $<TARGET_FILE:word_vectors> "${PROJECT_SOURCE_DIR}/apps/data/words" ${LAPSE_LAUNCHER} ${ranks}
      LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 1)
  endforeach()
endif()

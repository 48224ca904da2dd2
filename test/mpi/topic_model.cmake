lapse_test(topic_model_mpi
  SOURCES topic_model.cpp topic_model_use.cpp
  DEPENDS lapse::app_topic_model lapse::jobs lapse::io fmt::fmt
  RANKS 1 2 4
  DOMAINS rank)

# Runs the program like a user does. Starting and ending it again and again leaves half of two processors idle.
if(LAPSE_BUILD_APPS)
  foreach(ranks IN ITEMS 1 3)
    lapse_add_test(topic_model_program.ranks_${ranks}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
              "${CMAKE_CURRENT_SOURCE_DIR}/topic_model_program.sh"
              $<TARGET_FILE:topic_model> "${PROJECT_SOURCE_DIR}/apps/data/novels" ${LAPSE_LAUNCHER} ${ranks}
      LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 1)
  endforeach()
endif()

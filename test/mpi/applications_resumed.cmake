# Stops every application midway and resumes it. That leaves half of two processors idle.
if(LAPSE_BUILD_APPS)
  lapse_add_test(applications_resumed.ranks_2
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
            "${CMAKE_CURRENT_SOURCE_DIR}/applications_resumed.sh" $<TARGET_FILE_DIR:matrix_factorization>
            "${PROJECT_SOURCE_DIR}/apps/data" ${LAPSE_LAUNCHER} 2
    LABELS mpi ranks-2 TIMEOUT 180 PROPERTIES PROCESSORS 1)
endif()

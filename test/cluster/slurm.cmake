# The batch scripts under a Slurm of two virtual nodes, from the source tree and installed. They wait for the
# largest part of their time, and run alone: limits of jobs are in seconds.
set(install "")
if(LAPSE_INSTALL)
  set(install "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --component programs --prefix)
endif()
lapse_add_test(slurm.jobs
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/slurm_jobs.sh" "${CMAKE_CURRENT_SOURCE_DIR}/slurm_testbed.sh"
          "${PROJECT_SOURCE_DIR}/slurm" $<TARGET_FILE_DIR:matrix_factorization> "${PROJECT_SOURCE_DIR}/apps/data" ${install}
  LABELS cluster mpi slurm TIMEOUT 240 PROPERTIES PROCESSORS 1 RUN_SERIAL TRUE)

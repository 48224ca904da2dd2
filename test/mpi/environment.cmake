lapse_program(environment_program SOURCES environment_program.cpp DEPENDS lapse::jobs)
# The programs mostly wait for MPI to start and end: two run at a time.
foreach(case IN ITEMS variables slurm_parts slurm_alone slurm_step other_launcher plain_init level_by_variable after_finalize)
  lapse_add_test(environment.${case}
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/environment_program.sh" ${case} $<TARGET_FILE:environment_program>
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 ${LAPSE_LAUNCHER}
    LABELS mpi ranks-2 TIMEOUT 120 PROPERTIES PROCESSORS 1)
endforeach()

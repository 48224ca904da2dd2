# Ranks that are killed: a few times here, fifty times by hand.
if(LAPSE_BUILD_APPS)
  lapse_program(faults_program SOURCES faults_program.cpp DEPENDS lapse::adapm lapse::jobs)
  lapse_add_test(kills.ranks_3
    # mpirun does not wait after its ranks have ended.
    COMMAND env OMPI_MCA_odls_base_sigkill_timeout=0 python3 -B "${CMAKE_CURRENT_SOURCE_DIR}/kills.py" --kills 7
            --program $<TARGET_FILE:faults_program> --application $<TARGET_FILE:matrix_factorization>
            --tool $<TARGET_FILE:lapse-checkpoint>
    LABELS cluster mpi ranks-3 TIMEOUT 240 PROPERTIES PROCESSORS 2)
endif()

lapse_test(lookups
  SOURCES lookups.cpp
  DEPENDS lapse::jobs fmt::fmt
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

# Windows of given memory cannot be made: one line says so, and keys of unknown owners are requested at their
# homes.
if(LAPSE_WITH_OPEN_MPI)
  lapse_add_test(lookups.no_window
    COMMAND env LAPSE_RMA=on LAPSE_DOMAIN=rank OMPI_MCA_osc=sm
            "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" success
            "owners are not read by remote memory access, accesses to keys of unknown owners go by their homes"
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60 ${LAPSE_LAUNCHER} 3 $<TARGET_FILE:history> "history: little room*"
    LABELS mpi ranks-3 TIMEOUT 120 PROPERTIES PROCESSORS 2)
endif()

# What a wait that takes too long reports: one case for each run, of ranks that are stopped, late or gone.
lapse_program(stall_program SOURCES stall_program.cpp DEPENDS lapse::ps)
function(lapse_stall_case case ranks)
  # They sleep for most of their time: two at a time.
  lapse_add_test(stall.${case}
    COMMAND "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" success "the report is right"
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 ${LAPSE_LAUNCHER} ${ranks}
            $<TARGET_FILE:stall_program> ${case}
    LABELS mpi ranks-${ranks} TIMEOUT 60 PROPERTIES PROCESSORS 1)
endfunction()
lapse_stall_case(latch 2)
lapse_stall_case(owner 3)
lapse_stall_case(leased 2)
lapse_stall_case(lease_against_lease 2)
lapse_stall_case(localize_against_lease 2)
lapse_stall_case(call_stopped 3)
lapse_stall_case(call_late 2)
lapse_stall_case(barrier 2)
lapse_stall_case(barrier_apart 2)
lapse_stall_case(phase_end 2)
lapse_stall_case(returned 3)

# What a wait that takes too long reports: one case for each run, of ranks that are stopped, late or gone.
lapse_program(stall_program SOURCES stall_program.cpp DEPENDS lapse::ps)
lapse_program(stall_copies_program SOURCES stall_copies_program.cpp DEPENDS lapse::adapm)
# lapse_stall_case(<case> <ranks> [<program>])
function(lapse_stall_case case ranks)
  set(program stall_program)
  if(ARGC GREATER 2)
    set(program ${ARGV2})
  endif()
  # They sleep for most of their time: two at a time.
  lapse_add_test(stall.${case}
    COMMAND "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" success "the report is right"
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 ${LAPSE_LAUNCHER} ${ranks}
            $<TARGET_FILE:${program}> ${case}
    LABELS mpi ranks-${ranks} TIMEOUT 60 PROPERTIES PROCESSORS 1)
endfunction()
lapse_stall_case(latch 2)
lapse_stall_case(owner 3)
lapse_stall_case(passed_on 3)
lapse_stall_case(leased 2)
lapse_stall_case(lease_against_lease 2)
lapse_stall_case(localize_against_lease 2)
lapse_stall_case(call_stopped 3)
lapse_stall_case(call_late 2)
lapse_stall_case(barrier 2)
lapse_stall_case(barrier_apart 2)
lapse_stall_case(detached 2)
lapse_stall_case(phase_end 2)
lapse_stall_case(not_stopped 2)
lapse_stall_case(returned 3)
lapse_stall_case(copy_awaited 3 stall_copies_program)
lapse_stall_case(relocation 3 stall_copies_program)
lapse_stall_case(wait_sync 3 stall_copies_program)
lapse_stall_case(sync_barrier 3 stall_copies_program)

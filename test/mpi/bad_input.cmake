lapse_test(test_bad_input
  SOURCES bad_input_calls.cpp bad_input_collectives.cpp bad_input_failures.cpp bad_input_tables.cpp
  DEPENDS lapse::jobs
  RANKS 1 2 3
  DOMAINS rank 2
  TIMEOUT 60)

# Programs that end, or initialise MPI, differently from the main function of the tests: one case per run.
# bad_input_program.sh checks how the job ends and what it prints.
lapse_program(bad_input_program SOURCES bad_input_program.cpp DEPENDS lapse::jobs)
function(lapse_bad_input_case case ranks status text)
  # The programs mostly wait for MPI to start and end: two run at a time.
  lapse_add_test(bad_input.${case}
    COMMAND "${PROJECT_SOURCE_DIR}/test/mpi/bad_input_program.sh" ${status} "${text}"
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 ${LAPSE_LAUNCHER} ${ranks}
            $<TARGET_FILE:bad_input_program> ${case}
    LABELS mpi ranks-${ranks} TIMEOUT 90 PROPERTIES PROCESSORS 1)
endfunction()
lapse_bad_input_case(worker_throws 3 failure "rank 1 failed: the text of the test")
lapse_bad_input_case(key_out_of_range 2 failure "key 100 of table 'factors' is out of range on rank 1")
lapse_bad_input_case(unwinding 2 failure "an exception ended the parameter server before close")
lapse_bad_input_case(unwinding_closes 3 success "every rank closed")
lapse_bad_input_case(variable 2 failure "LAPSE_EAGER_BYTE")
lapse_bad_input_case(before_init 1 success "MPI is not initialised")
lapse_bad_input_case(after_finalize 1 success "MPI is already finalized")
lapse_bad_input_case(thread_single 1 success "MPI_THREAD_SINGLE")
lapse_bad_input_case(address_space 2 success "every rank got the error")
lapse_bad_input_case(threads 2 success "every rank got the error")
lapse_bad_input_case(no_workers 2 success "every rank got the error")

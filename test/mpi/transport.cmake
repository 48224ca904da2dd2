lapse_test(transport_mpi
  SOURCES transport_collective.cpp transport_host_rings.cpp transport_shared_memory.cpp transport_traffic.cpp
  DEPENDS lapse::transport
  RANKS 1 2 3 4)
lapse_test(transport_large
  SOURCES transport_large.cpp
  DEPENDS lapse::transport
  RANKS 2
  LABELS slow)

# Programs that initialise MPI differently from the main function of the tests. They mostly wait for MPI to
# start and end: two run at a time.
lapse_program(transport_states SOURCES transport_states.cpp DEPENDS lapse::transport)
set(eager_states eager_unknown)
if(LAPSE_WITH_OPEN_MPI)
  set(eager_states eager_default eager_small eager_tcp eager_tcp_small)
endif()
foreach(state IN ITEMS before_init thread_single thread_funneled thread_multiple after_finalize open_at_finalize
        ${eager_states} abort)
  set(expected "")
  if(state STREQUAL abort)
    set(expected
      PASS_REGULAR_EXPRESSION "lapse.1. error: rank 1 on [^ ]+ ends the job: the reason of the test.*hook: the reason of the test"
      FAIL_REGULAR_EXPRESSION "time limit")
  endif()
  lapse_add_test(transport_states.${state}
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 30 ${LAPSE_LAUNCHER} 2
            $<TARGET_FILE:transport_states> ${state}
    LABELS mpi ranks-2 TIMEOUT 90 PROPERTIES PROCESSORS 1 ${expected})
endforeach()

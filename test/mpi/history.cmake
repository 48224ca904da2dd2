lapse_test(history
  SOURCES history.cpp
  DEPENDS lapse_test_histories
  RANKS 1 2 3 4
  DOMAINS rank 2)

# Bulk payloads by windows, between ranks of a host that otherwise share no memory.
foreach(ranks IN ITEMS 2 4)
  lapse_add_test(history.rma.ranks_${ranks}
    COMMAND env LAPSE_RMA=on LAPSE_DOMAIN=rank
            "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${LAPSE_TEST_TIMEOUT} ${LAPSE_LAUNCHER} ${ranks}
            $<TARGET_FILE:history>
    LABELS mpi ranks-${ranks} TIMEOUT 180 PROPERTIES PROCESSORS 2)
endforeach()

# Packets between ranks of a host by MPI messages, like between hosts.
lapse_add_test(history.messages.ranks_3
  COMMAND env LAPSE_HOST_RINGS=off LAPSE_DOMAIN=rank
          "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${LAPSE_TEST_TIMEOUT} ${LAPSE_LAUNCHER} 3
          $<TARGET_FILE:history>
  LABELS mpi ranks-3 TIMEOUT 180 PROPERTIES PROCESSORS 2)

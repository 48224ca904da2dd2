# Histories and random workloads, for simulations and for tests over MPI.
add_library(lapse_test_histories STATIC
  ../support/history_assignments.cpp
  ../support/history_counters.cpp
  ../support/history_live_counters.cpp
  ../support/lease_play.cpp
  ../support/sync_play.cpp
  ../support/random_intents.cpp
  ../support/random_policy.cpp
  ../support/random_workload.cpp
  ../support/random_workload_assignments.cpp
  ../support/random_workload_server.cpp
  ../support/replicas_at_rest.cpp)
target_link_libraries(lapse_test_histories PUBLIC lapse::jobs PRIVATE lapse_settings)

# The searches for faults test the simulation itself: the build without sanitizers suffices.
set(simulation_cases "")
if(LAPSE_SANITIZER)
  set(simulation_cases "~*finds*")
endif()
lapse_test(simulation SEPARATE
  SOURCES bulk.cpp campaign.cpp domains.cpp faults.cpp frame_fault.cpp leases.cpp lookups.cpp packet_text.cpp refusal_client.cpp refusal_scenarios.cpp refusals.cpp relocation.cpp replication.cpp replication_faults.cpp scenario.cpp simulated_rank.cpp simulation.cpp simulation_invariants.cpp simulation_replicas.cpp
  DEPENDS lapse_test_histories
  LABELS simulation
  TIMEOUT 300
  ARGUMENTS ${simulation_cases})
lapse_test(simulation_threads
  THREADED threads.cpp threads_clocks.cpp
  DEPENDS lapse_test_histories
  LABELS simulation
  TIMEOUT 300)
lapse_test(simulation_checks SEPARATE
  SOURCES history_checks.cpp history_replica_checks.cpp intent_checks.cpp replica_checks.cpp router_decisions.cpp
  DEPENDS lapse_test_histories)

# The longest tests that use one processor begin first. Instrumented code is ten to fifty times slower, and
# finds its errors within fewer steps. These tests run in one thread; simulation_threads looks for races.
if(LAPSE_SANITIZER STREQUAL "address")
  set_tests_properties(address.simulation PROPERTIES COST 80 ENVIRONMENT SIMULATION_STEPS=30000)
elseif(NOT LAPSE_SANITIZER)
  set_tests_properties(simulation PROPERTIES COST 80)
endif()

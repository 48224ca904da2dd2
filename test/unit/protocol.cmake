lapse_test(test_protocol
  SOURCES protocol_arrival_table.cpp protocol_budgets.cpp protocol_collective.cpp protocol_credits.cpp protocol_dispatcher.cpp protocol_element_frames.cpp protocol_groups_in_slots.cpp protocol_key_budgets.cpp protocol_key_observer.cpp protocol_key_queue.cpp protocol_answer_checks.cpp
          protocol_localize_requests.cpp protocol_outbox.cpp protocol_outbox_cancel.cpp protocol_outbox_in_place.cpp
          protocol_operation_memory.cpp protocol_operation_state.cpp protocol_owner_lookups.cpp protocol_outbox_packets.cpp protocol_outbox_runs.cpp protocol_rank_groups.cpp
          protocol_run_frames.cpp protocol_recent_keys.cpp protocol_routes_in_flight.cpp protocol_run_routes.cpp protocol_run_routes_neighbours.cpp protocol_runs_equal.cpp protocol_sole_wants.cpp protocol_relocation_failure.cpp protocol_relocation_refusal.cpp
          protocol_relocation_runs.cpp protocol_remote_samples.cpp protocol_replica_staleness.cpp protocol_replication_records.cpp protocol_replication_rules.cpp protocol_round_timer.cpp protocol_stall_inquiry.cpp protocol_levels.cpp protocol_stop_requests.cpp protocol_synchronization.cpp protocol_syncs.cpp protocol_termination_detection.cpp
          protocol_termination_within_phase.cpp
          protocol_unanswered_table.cpp
          protocol_unanswered_table_size.cpp protocol_wanted_keys.cpp protocol_worker_endpoint.cpp
  THREADED protocol_required_versions.cpp protocol_unanswered_table_orders.cpp
  DEPENDS lapse::protocol)
lapse_test(test_protocol_fuzz SOURCES protocol_fuzz.cpp protocol_lease_grants.cpp DEPENDS lapse_test_histories)
# The parts of the transport that send no messages themselves.
lapse_test(test_protocol_engine
  SOURCES protocol_help_record.cpp protocol_idle_policy.cpp protocol_progress_engine_failures.cpp
  THREADED protocol_doorbell.cpp protocol_progress_engine.cpp protocol_progress_engine_deadlines.cpp protocol_progress_engine_holds.cpp protocol_progress_engine_rings.cpp protocol_submission_queue.cpp
  DEPENDS lapse::transport)

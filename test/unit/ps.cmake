lapse_test(test_ps
  SOURCES ps_archive.cpp ps_checkpoint_files.cpp ps_crowding.cpp ps_direct_call.cpp ps_element_calls.cpp ps_element_checks.cpp ps_local_access.cpp ps_reduction.cpp ps_shared_table.cpp ps_stall_copies.cpp ps_stall_text.cpp ps_stall_watch.cpp ps_sync_barrier_cut.cpp ps_table_factory.cpp ps_table_spec.cpp ps_trace.cpp
    ps_worker_group.cpp
  THREADED ps_agreement.cpp ps_slot_threads.cpp
  DEPENDS lapse::jobs Boost::serialization)

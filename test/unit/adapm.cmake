lapse_test(test_adapm
  SOURCES adapm_action_timer.cpp adapm_distribution.cpp adapm_intent_counters.cpp
    adapm_intent_rounds_large.cpp adapm_key_frequencies.cpp adapm_options.cpp
    adapm_permanent_wants.cpp adapm_remote_causes.cpp adapm_sample_pool.cpp adapm_sampling.cpp adapm_techniques.cpp adapm_traced_keys.cpp
  THREADED adapm_intent_queue.cpp adapm_intent_rounds.cpp adapm_manager_threads.cpp adapm_sampling_threads.cpp
  DEPENDS lapse::adapm)

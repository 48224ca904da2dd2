lapse_test(test_adapm
  SOURCES adapm_action_timer.cpp adapm_intent_queue.cpp
  DEPENDS lapse::adapm)

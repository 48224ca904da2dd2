lapse_test(test_allocation_trace
  SOURCES allocation_trace.cpp allocation_trace_events.cpp
  DEPENDS lapse::adapm lapse::app_viewer
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

lapse_test(test_server
  SOURCES server_collectives.cpp server_job_control.cpp server_latches.cpp server_life.cpp server_large_calls.cpp server_operations.cpp
          server_several.cpp server_tables.cpp server_threads.cpp
  DEPENDS lapse::jobs
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

lapse_test(test_server_code
  SOURCES server_functions.cpp server_groups.cpp server_groups_failures.cpp server_leases.cpp server_leases_waiting.cpp server_refusals.cpp server_user_code.cpp
  DEPENDS lapse::jobs
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

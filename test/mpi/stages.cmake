lapse_test(test_stages
  SOURCES stages.cpp stages_clocks.cpp stages_copies.cpp stages_failures.cpp stages_many.cpp stages_progress.cpp stages_refusals.cpp stages_slots.cpp stages_trace.cpp
  DEPENDS lapse::adapm lapse::stage nlohmann_json::nlohmann_json
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 60)

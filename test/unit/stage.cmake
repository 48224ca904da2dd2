lapse_test(test_stage
  SOURCES stage_parallelism_tuner.cpp stage_placement.cpp stage_placement_oracle.cpp stage_scheduler.cpp stage_scheduler_random.cpp
          stage_scheduler_starving.cpp stage_task_spec.cpp
  THREADED stage_engine_threads.cpp
  DEPENDS lapse::stage)

lapse_test(test_checkpoints
  SOURCES checkpoints.cpp checkpoints_branches.cpp checkpoints_converted.cpp checkpoints_copies.cpp checkpoints_damage.cpp
    checkpoints_errors.cpp checkpoints_finite.cpp checkpoints_large.cpp checkpoints_left_overs.cpp checkpoints_local.cpp checkpoints_newest.cpp checkpoints_parts.cpp
    checkpoints_steps.cpp
  DEPENDS lapse::app_checkpoint_tool lapse::adapm lapse::jobs fmt::fmt
  RANKS 1 2 3 4
  DOMAINS rank 2
  PROCESSORS 1
  TIMEOUT 100)

# Disks that are full or read-only.
lapse_program(checkpoints_disks SOURCES checkpoints_disks.cpp DEPENDS lapse_mpi_test_main lapse::jobs)
lapse_add_test(checkpoints_disks.ranks_3
  COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 60
          "${CMAKE_CURRENT_SOURCE_DIR}/checkpoints_disks.sh" ${LAPSE_LAUNCHER} 3 $<TARGET_FILE:checkpoints_disks>
  LABELS mpi ranks-3 TIMEOUT 120 PROPERTIES PROCESSORS 2)

# Ranks that are killed during a save.
if(LAPSE_BUILD_APPS)
  lapse_program(checkpoints_program SOURCES checkpoints_program.cpp DEPENDS lapse::jobs)
  lapse_add_test(checkpoints_killed.ranks_3
    COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" 120
            "${CMAKE_CURRENT_SOURCE_DIR}/checkpoints_program.sh" $<TARGET_FILE:checkpoints_program>
            $<TARGET_FILE:lapse-checkpoint> ${LAPSE_LAUNCHER} 3
    LABELS mpi ranks-3 TIMEOUT 180 PROPERTIES PROCESSORS 2)
  # The order of writes in docs/checkpoint-format.md, with several ranks.
  if(NOT LAPSE_SANITIZER)
    lapse_add_test(checkpoints_order.ranks_2
      COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/checkpoints_order.sh" "${PROJECT_SOURCE_DIR}/test/unit/checkpoint_order.py"
              $<TARGET_FILE:checkpoints_program> ${LAPSE_LAUNCHER} 2
      LABELS mpi ranks-2 TIMEOUT 60 PROPERTIES PROCESSORS 2)
  endif()
endif()

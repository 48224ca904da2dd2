lapse_test(test_checkpoint
  SOURCES checkpoint_files.cpp checkpoint_flips.cpp checkpoint_folder.cpp checkpoint_golden.cpp checkpoint_manifest.cpp checkpoint_shard.cpp
    checkpoint_shard_damage.cpp
  DEPENDS lapse::checkpoint fmt::fmt)
if(LAPSE_SANITIZER STREQUAL "thread")
  return()  # checkpoints have no threads
endif()
target_compile_definitions(test_checkpoint PRIVATE
  LAPSE_GOLDEN_CHECKPOINTS="${CMAKE_CURRENT_SOURCE_DIR}/checkpoint_golden")

# The program, and the Python module, on these files.
if(TARGET lapse-checkpoint)
  lapse_add_test(checkpoint_program
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/checkpoint_program.sh" $<TARGET_FILE:lapse-checkpoint> "${CMAKE_CURRENT_SOURCE_DIR}"
    LABELS unit TIMEOUT 60)
  add_dependencies(tests_without_mpi lapse-checkpoint)
  # Debian's Python, which has packages of NumPy and others.
  find_program(LAPSE_SYSTEM_PYTHON python3 HINTS /usr/bin NO_DEFAULT_PATH REQUIRED)
  lapse_add_test(checkpoint_python
    COMMAND "${LAPSE_SYSTEM_PYTHON}" -B "${CMAKE_CURRENT_SOURCE_DIR}/checkpoint_python.py" $<TARGET_FILE:lapse-checkpoint>
            "${CMAKE_CURRENT_SOURCE_DIR}/checkpoint_golden/version-1" "${PROJECT_SOURCE_DIR}/lapse/checkpoint"
    LABELS unit TIMEOUT 60)
endif()

# The order in which a checkpoint reaches the disk. A program with the leak sanitizer cannot be traced.
if(NOT LAPSE_SANITIZER)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  lapse_add_test(checkpoint_order
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/checkpoint_order.py"
            $<TARGET_FILE:test_checkpoint> "A checkpoint is found and read again,Many files are in folders of their own"
    LABELS unit TIMEOUT 60)
endif()

# Runs every benchmark with tiny sizes, checks that all cases and fields of the results are there, and makes a
# page of them. Times are not checked.
if(TARGET bench_access)
  list(JOIN LAPSE_LAUNCHER " " launcher)
  set(report --report)  # One page is enough.
  foreach(name IN ITEMS access c_interface checkpoints elements factorization growth idle intent knowledge_graphs memory one_sided phases pipeline policies relocation replicas sampling stages update_rules)
    lapse_add_test(bench_smoke.${name}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${LAPSE_TEST_TIMEOUT}
              "${PROJECT_SOURCE_DIR}/bench/run.sh" --smoke --launcher "${launcher}"
              --programs $<TARGET_FILE_DIR:bench_${name}> --out "${CMAKE_CURRENT_BINARY_DIR}/bench" ${report} ${name}
      LABELS bench-smoke TIMEOUT 180 PROPERTIES PROCESSORS 2)
    set(report "")
  endforeach()
endif()

# The comparison of techniques: how it handles failed runs, and each of its series with tiny data.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
lapse_add_test(bench_techniques COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/bench/support/techniques_test.py"
  LABELS unit TIMEOUT 120)
if(TARGET bench_one_sided AND LAPSE_BUILD_APPS)
  list(JOIN LAPSE_LAUNCHER " " launcher)
  # Each technique, and each task.
  set(tasks ratings,words)
  set(without_torch TRUE)
  if(LAPSE_PYTHON_FOUND)
    execute_process(COMMAND "${LAPSE_PYTHON_EXECUTABLE}" -c "import mpi4py, torch" RESULT_VARIABLE without_torch ERROR_QUIET)
  endif()
  if(without_torch)
    message(STATUS "Without PyTorch, the comparison of techniques is not tested with the programs in Python")
  else()
    string(APPEND tasks ,nodes,clicks)
  endif()
  foreach(series IN ITEMS techniques tasks lead ranks hosts)
    set(of_techniques --regret --tasks matrix,graph)
    set(of_tasks --tasks ${tasks} --techniques adaptive)
    set(of_lead --lead --tasks matrix)
    set(of_ranks --ranks 1,3 --tasks graph)
    set(of_hosts --hosts 1,1 --tasks graph)
    set(series_launcher "${launcher}")
    if(series STREQUAL hosts)
      set(series_launcher "mpirun -n")
    endif()
    lapse_add_test(bench_smoke.techniques_${series}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${LAPSE_TEST_TIMEOUT}
              $<TARGET_FILE:Python3::Interpreter> -B "${PROJECT_SOURCE_DIR}/bench/techniques.py" --smoke ${of_${series}}
              --launcher "${series_launcher}" --programs "${PROJECT_BINARY_DIR}"
              --out "${CMAKE_CURRENT_BINARY_DIR}/bench/techniques_${series}"
      LABELS bench-smoke TIMEOUT 180 PROPERTIES PROCESSORS 2)
  endforeach()
endif()

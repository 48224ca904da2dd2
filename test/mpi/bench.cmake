# Every benchmark with tiny sizes, and its results: all cases and fields are there, and a page can be made
# of them. Times are not judged.
if(TARGET bench_access)
  list(JOIN LAPSE_LAUNCHER " " launcher)
  foreach(name IN ITEMS access factorization growth idle intent knowledge_graphs memory one_sided phases relocation replicas sampling update_rules)
    lapse_add_test(bench_smoke.${name}
      COMMAND "${PROJECT_SOURCE_DIR}/test/support/run_with_stacks.sh" ${LAPSE_TEST_TIMEOUT}
              "${PROJECT_SOURCE_DIR}/bench/run.sh" --smoke --launcher "${launcher}"
              --programs $<TARGET_FILE_DIR:bench_${name}> --out "${CMAKE_CURRENT_BINARY_DIR}/bench" --report ${name}
      LABELS bench-smoke TIMEOUT 180 PROPERTIES PROCESSORS 2)
  endforeach()
endif()

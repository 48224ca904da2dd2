# The custom rule in docs/update-rules.md is compiled and tested.
lapse_example_in(docs/update-rules.md update_rules_example.hpp)
lapse_test(test_store
  SOURCES store_dense_store.cpp store_dense_store_threads.cpp store_initialiser.cpp store_kernels.cpp
    store_racy_copy.cpp store_region.cpp store_slab.cpp store_slot_word.cpp store_update_rule.cpp
    store_update_rule_custom.cpp store_update_rule_formulas.cpp store_update_rule_ftrl.cpp store_value_layout.cpp
  DEPENDS lapse::store)
target_include_directories(test_store PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")

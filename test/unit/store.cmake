# Compiles and tests the custom rule in docs/update-rules.md.
lapse_example_in(docs/update-rules.md update_rules_example.hpp)
lapse_test(test_store SEPARATE
  SOURCES store_copy_merger.cpp store_copy_merger_custom.cpp store_dirty_set.cpp store_initialiser.cpp store_kernels.cpp store_kernels_copies.cpp store_kernels_finite.cpp store_memory_budget.cpp store_racy_copy.cpp store_region.cpp store_row_elements.cpp store_row_norm.cpp
    store_free_slots.cpp store_slab.cpp store_slab_sizes.cpp store_slab_space.cpp store_slot_word.cpp store_sparse_words.cpp
    store_store.cpp store_store_leases.cpp store_store_lengths.cpp
    store_store_runs.cpp store_store_shared.cpp store_store_sparse.cpp store_update_rule.cpp store_update_rule_custom.cpp store_update_rule_elements.cpp
    store_update_rule_formulas.cpp store_update_rule_ftrl.cpp store_value_layout.cpp store_value_sizes.cpp
  THREADED store_dirty_set_threads.cpp store_row_elements_threads.cpp store_sparse_words_threads.cpp store_store_leases_threads.cpp store_store_runs_threads.cpp store_store_threads.cpp
  DEPENDS lapse::store)
target_include_directories(test_store PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")

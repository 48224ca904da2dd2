lapse_test(test_store
  SOURCES store_initialiser.cpp store_memory_budget.cpp store_racy_copy.cpp store_region.cpp store_slab.cpp
    store_slab_sizes.cpp store_slot_word.cpp store_sparse_words.cpp store_sparse_words_threads.cpp store_store.cpp
    store_store_leases.cpp store_store_leases_threads.cpp store_store_lengths.cpp store_store_sparse.cpp
    store_store_threads.cpp store_update_rule.cpp store_value_layout.cpp store_value_sizes.cpp
  DEPENDS lapse::store)

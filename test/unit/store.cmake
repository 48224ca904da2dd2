lapse_test(test_store
  SOURCES store_dense_store.cpp store_dense_store_threads.cpp store_initialiser.cpp store_kernels.cpp store_racy_copy.cpp
    store_region.cpp store_slab.cpp store_slot_word.cpp store_update_rule.cpp
    store_value_layout.cpp
  DEPENDS lapse::store)

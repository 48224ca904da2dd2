lapse_test(test_store
  SOURCES store_initialiser.cpp store_racy_copy.cpp store_region.cpp store_slab.cpp store_slot_word.cpp store_store.cpp
    store_store_threads.cpp store_update_rule.cpp store_value_layout.cpp
  DEPENDS lapse::store)

lapse_test(test_directory
  SOURCES directory_domain_map.cpp directory_home_map.cpp directory_location_cache.cpp directory_ownership_table.cpp
    directory_router.cpp
  DEPENDS lapse::directory)

if(TARGET lapse_app_viewer)
  lapse_test(test_viewer
    SOURCES apps_viewer.cpp
    DEPENDS lapse::app_viewer)
endif()

if(TARGET lapse_app_viewer)
  lapse_test(test_viewer
    SOURCES apps_viewer.cpp apps_viewer_optimum.cpp
    DEPENDS lapse::app_viewer)
endif()

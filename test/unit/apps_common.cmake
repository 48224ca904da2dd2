lapse_test(test_apps_common SOURCES apps_common.cpp DEPENDS lapse::app_common fmt::fmt)

lapse_test(test_apps_common SOURCES apps_checkpoints.cpp apps_common.cpp DEPENDS lapse::app_common fmt::fmt)
lapse_test(test_apps_management_report SOURCES apps_management_report.cpp DEPENDS lapse::app_common)

lapse_test(test_report
  SOURCES report.cpp report_charts.cpp report_components.cpp
  DEPENDS lapse::app_report_tool)

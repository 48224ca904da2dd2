lapse_test(test_apps_common SOURCES apps_checkpoints.cpp apps_common.cpp apps_signals.cpp DEPENDS lapse::app_common fmt::fmt)
lapse_test(test_apps_management_report SOURCES apps_management_report.cpp DEPENDS lapse::app_common)

# Options, tested with the program that prints them and with an application.
if(TARGET lapse-options AND NOT LAPSE_SANITIZER)
  lapse_add_test(options_program
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/options_program.sh" $<TARGET_FILE:lapse-options> $<TARGET_FILE:matrix_factorization>
    LABELS unit TIMEOUT 60)
endif()

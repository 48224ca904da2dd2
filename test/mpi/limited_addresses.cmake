# Sanitizers map more addresses than the limit allows.
if(NOT LAPSE_SANITIZER)
  lapse_test(limited_addresses
    SOURCES limited_addresses.cpp
    DEPENDS lapse::jobs
    RANKS 1 2
    TIMEOUT 60)
endif()

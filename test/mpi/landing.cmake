lapse_test(landing
  SOURCES landing.cpp
  DEPENDS lapse::transport fmt::fmt
  RANKS 1 2 3 4
  TIMEOUT 60)
lapse_test(landing_faults
  SOURCES landing_faults.cpp
  DEPENDS lapse::ps fmt::fmt
  RANKS 2 3
  TIMEOUT 60)

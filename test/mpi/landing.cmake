lapse_test(landing
  SOURCES landing.cpp
  DEPENDS lapse::transport fmt::fmt
  RANKS 1 2 3 4
  TIMEOUT 60)

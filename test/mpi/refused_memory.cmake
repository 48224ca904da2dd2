lapse_test(refused_memory
  SOURCES refused_memory.cpp
  DEPENDS lapse::ps
  RANKS 2
  DOMAINS rank
  TIMEOUT 60)

lapse_test(refused_memory
  SOURCES refused_memory.cpp refused_memory_allocator.cpp refused_memory_copies.cpp
  DEPENDS lapse::adapm
  RANKS 2
  DOMAINS rank
  TIMEOUT 60)

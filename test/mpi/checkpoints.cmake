lapse_test(test_checkpoints
  SOURCES checkpoints.cpp checkpoints_copies.cpp checkpoints_errors.cpp
  DEPENDS lapse::adapm lapse::ps fmt::fmt
  RANKS 1 2 3 4
  DOMAINS rank 2
  TIMEOUT 100)

#define VECTORS lapse_int64_vectors
#define MATRICES lapse_int64_matrices
#define VALUE integer(int64)
#define ELEMENT lapse_int64
#include "lapse/fortran/access.inc"

#define VECTORS lapse_int32_vectors
#define MATRICES lapse_int32_matrices
#define VALUE integer(int32)
#define ELEMENT lapse_int32
#include "lapse/fortran/access.inc"

#define VECTORS lapse_float_vectors
#define MATRICES lapse_float_matrices
#define VALUE real(real32)
#define ELEMENT lapse_float
#include "lapse/fortran/access.inc"

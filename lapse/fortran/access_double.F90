#define VECTORS lapse_double_vectors
#define MATRICES lapse_double_matrices
#define VALUE real(real64)
#define ELEMENT lapse_double
#include "lapse/fortran/access.inc"

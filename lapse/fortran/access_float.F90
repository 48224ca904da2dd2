#define MODULE_NAME lapse_access_float
#define VALUE real(real32)
#define ELEMENT lapse_float
#include "lapse/fortran/access.inc"

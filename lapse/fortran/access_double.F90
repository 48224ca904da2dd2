#define MODULE_NAME lapse_access_double
#define VALUE real(real64)
#define ELEMENT lapse_double
#include "lapse/fortran/access.inc"

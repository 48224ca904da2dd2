#define MODULE_NAME lapse_access_int32
#define VALUE integer(int32)
#define ELEMENT lapse_int32
#include "lapse/fortran/access.inc"

#define MODULE_NAME lapse_access_int64
#define VALUE integer(int64)
#define ELEMENT lapse_int64
#include "lapse/fortran/access.inc"

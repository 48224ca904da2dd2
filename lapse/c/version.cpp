#include "lapse/lapse.h"

const char* lapse_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = LAPSE_VERSION_MAJOR;
  if (minor != nullptr) *minor = LAPSE_VERSION_MINOR;
  if (patch != nullptr) *patch = LAPSE_VERSION_PATCH;
  return LAPSE_VERSION;
}

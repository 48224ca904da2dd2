#include "lapse/core/version.hpp"

#include "lapse/lapse.h"

const char* lapse_version(int* major, int* minor, int* patch) {
  const lapse::LibraryVersion version = lapse::library_version();
  if (major != nullptr) *major = version.major;
  if (minor != nullptr) *minor = version.minor;
  if (patch != nullptr) *patch = version.patch;
  return lapse::library_version_text();
}

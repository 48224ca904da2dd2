#include "lapse/core/version.hpp"

#define LAPSE_TEXT_OF(number) #number
#define LAPSE_VERSION_TEXT(major, minor, patch) \
  LAPSE_TEXT_OF(major) "." LAPSE_TEXT_OF(minor) "." LAPSE_TEXT_OF(patch)

namespace lapse {

LibraryVersion library_version() noexcept {
  return kHeaderVersion;
}

const char* library_version_text() noexcept {
  return LAPSE_VERSION_TEXT(LAPSE_VERSION_MAJOR, LAPSE_VERSION_MINOR, LAPSE_VERSION_PATCH);
}

}  // namespace lapse

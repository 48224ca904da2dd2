// The version of the library.
#pragma once

#include "lapse/core/export.hpp"
#include "lapse/core/version.h"

namespace lapse {

// Libraries with equal major and minor numbers are interchangeable.
struct LibraryVersion {
  int major;
  int minor;
  int patch;

  bool operator==(const LibraryVersion&) const = default;
};

// The version of the headers.
inline constexpr LibraryVersion kHeaderVersion{LAPSE_VERSION_MAJOR, LAPSE_VERSION_MINOR, LAPSE_VERSION_PATCH};

// The version of the library that the program runs with. Any thread, at any time.
LAPSE_EXPORT LibraryVersion library_version() noexcept;
// The same as text, such as "0.1.0".
LAPSE_EXPORT const char* library_version_text() noexcept;

}  // namespace lapse

// Times and sizes in a fitting unit, for human-readable texts.
#pragma once

#include <cstdint>
#include <string>

#include "lapse/core/export.hpp"

namespace lapse {

// Three digits and us, ms or s: "0.35 us", "12.0 us", "2.50 ms", "3600 s".
LAPSE_EXPORT_INNER std::string readable_time(double nanoseconds);
// Three digits and B, KB, MB, GB or TB, by thousands: "999 B", "1.25 MB".
LAPSE_EXPORT_INNER std::string readable_bytes(std::uint64_t bytes);

}  // namespace lapse

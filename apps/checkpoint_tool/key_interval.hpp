// A range of keys on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lapse::apps {

// Keys from first to last, both included.
struct KeyInterval {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
};

// Parses "5", "5-9", "5-" or "-9"; nullopt for other texts.
std::optional<KeyInterval> key_interval(std::string_view text);

}  // namespace lapse::apps

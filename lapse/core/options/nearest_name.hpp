// "Did you mean …": finds the known name closest to a misspelled one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lapse {

// The known name with the fewest inserted, deleted or replaced characters from the given name; empty if all
// known names differ in at least one of every `parts` characters.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known,
                              std::size_t parts);

// " (did you mean 'a'?)"; empty if all known names differ in at least half of their characters.
std::string did_you_mean(std::string_view given, std::span<const std::string_view> known);

}  // namespace lapse

// "Did you mean …": finds known names close to a misspelled one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapse {

// The known names with the fewest inserted, deleted or replaced characters from the given name, at most
// `limit`, closest first. Excludes names that differ in more than half of their characters.
std::vector<std::string_view> nearest_names(std::string_view given, std::span<const std::string_view> known,
                                            std::size_t limit = 3);

// Whether the given name is a known one or differs from one in less than a third of its characters, as a
// misspelled name does and another name rarely.
bool is_misspelled(std::string_view given, std::span<const std::string_view> known);

// " (did you mean 'a' or 'b'?)"; empty if no known name is near.
std::string did_you_mean(std::string_view given, std::span<const std::string_view> known);

}  // namespace lapse

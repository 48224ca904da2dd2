// "Did you mean …": which known names are close to a misspelled one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapse {

// The known names with the smallest number of inserted, deleted or replaced characters from the given name,
// at most `limit`, closest first. Names that differ in more than half of their characters are left out.
std::vector<std::string_view> nearest_names(std::string_view given, std::span<const std::string_view> known,
                                            std::size_t limit = 3);

// Whether the given name is a known one, or differs from one in less than a third of its characters: as a
// misspelled name does, and another name seldom.
bool is_misspelled(std::string_view given, std::span<const std::string_view> known);

// " (did you mean 'a' or 'b'?)", or nothing when no known name is near.
std::string did_you_mean(std::string_view given, std::span<const std::string_view> known);

}  // namespace lapse

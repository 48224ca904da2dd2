// A row of a table of options: an option's name, and how it is parsed and printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapse {

// The part that does not depend on the struct with the option's field.
struct OptionDescription {
  std::string_view name;
  std::string_view unit;  // Empty for words and plain counts.
  std::uint64_t minimum;  // Smallest and largest allowed value of a number, in its unit.
  std::uint64_t maximum;
  std::string_view meaning;
};

template <class Options>
struct OptionRow : OptionDescription {
  void (*parse)(Options& options, std::string_view text, const OptionDescription& description);
  std::string (*print)(const Options& options);
  std::string (*values)(const OptionDescription& description);  // "on, off", "1 to 1024"
};

}  // namespace lapse

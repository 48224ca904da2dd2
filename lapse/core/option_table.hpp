// The table of all options, by which they are set, printed and documented.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lapse/core/options.hpp"

namespace lapse {

// A line of the table of all options.
struct OptionDescription {
  std::string_view name;
  std::string_view unit;  // Empty for words and plain counts.
  std::uint64_t minimum;  // Smallest and largest allowed value of a number, in its unit.
  std::uint64_t maximum;
  std::string_view meaning;
  void (*parse)(Options& options, std::string_view text, const OptionDescription& description);
  std::string (*print)(const Options& options);
  std::string (*values)(const OptionDescription& description);  // "on, off", "1 to 1024"

  std::string environment_name() const;
};

std::span<const OptionDescription> option_table();

// A warning of the variables that were ignored; nothing when there are none.
std::optional<std::string> ignored_variables_warning(const Options& options);

// The text of docs/options.md.
std::string options_document();

}  // namespace lapse

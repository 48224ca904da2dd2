// Splits the lines of a table, as other programs write it, into fields.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Separators of fields: a tab, "::", a semicolon, a comma, a bar, or " " for runs of blanks.
//
// Blanks around a field do not belong to it, nor do quotes (") around all of it. Between commas and
// semicolons, a field in quotes may contain the separator, and two quotes in it mean one. Used by one thread.
class LAPSE_EXPORT TableFields {
 public:
  explicit TableFields(std::string separator) : separator_(std::move(separator)) {}

  // The fields of a line, which are valid until the next call and as long as the line.
  const std::vector<std::string_view>& split(std::string_view line);
  // Whether the line that was split last ends within a field in quotes.
  bool has_open_quote() const { return has_open_quote_; }

  const std::string& separator() const { return separator_; }

 private:
  bool may_quote_separators() const { return separator_ == "," || separator_ == ";"; }
  // The bytes of the first field of `rest`, with its quotes.
  std::size_t field_bytes(std::string_view rest);
  std::string_view without_quotes(std::string_view field);

  std::string separator_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> changed_;  // fields that had quotes in them
  bool has_open_quote_ = false;
};

// The first of these separators that the line contains, in the order in which they are listed above; else "
// ".
LAPSE_EXPORT std::string find_separator(std::string_view line);

// The separator that has this name in options: tab, colons (::), semicolon, comma, bar or blanks; empty if
// none has.
LAPSE_EXPORT std::string separator_of(std::string_view name);
// In the plural, for messages: "tabs".
LAPSE_EXPORT std::string_view name_of_separators(std::string_view separator);

}  // namespace lapse::io

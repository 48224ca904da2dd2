// Splits a line of text into fields and parses numbers in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/io/text/line_reader.hpp"

namespace lapse::io {

enum class Separator : char { tab = '\t', comma = ',', blanks = ' ' };

// The separator in a line: a tab, else a comma, else blanks.
LAPSE_EXPORT Separator detect_separator(std::string_view line);
// The name in the plural, for error messages.
LAPSE_EXPORT std::string_view separator_name(Separator separator);

// The text without blanks and tabs at either end.
LAPSE_EXPORT std::string_view trimmed(std::string_view text);

// A field for error messages: short, printable characters only.
LAPSE_EXPORT std::string shown(std::string_view field);

// The problem of a line with another number of fields than expected, such as "1 column, expected 3, separated
// by tabs: the line has none, but semicolons". `noun`: what the fields are; `separators`: what separates
// them.
LAPSE_EXPORT std::string wrong_number_of_fields(std::string_view line, std::size_t found,
                                                std::size_t expected, std::string_view noun,
                                                std::string_view separators);

// Splits a line into its fields, one by one. Blanks around a field do not belong to it; a run of blanks is
// one separator. The line must outlive the object.
class LAPSE_EXPORT Fields {
 public:
  Fields(std::string_view line, Separator separator) : rest_(line), separator_(separator) {
    if (separator_ == Separator::blanks) rest_ = trimmed(rest_);
  }

  // False if there are no more.
  bool next(std::string_view& field);

  // Skips all remaining fields and returns their number.
  std::size_t count_rest();

 private:
  std::string_view rest_;
  Separator separator_;
  bool done_ = false;
};

// Parses an id in the reader's current line. Throws FileError, with line, column and `what`, if the field is
// not an integer from 0 to the limit.
LAPSE_EXPORT std::uint64_t parse_id(const LineReader& reader, std::string_view field, std::string_view what,
                                    std::uint64_t limit);

// Whether a decimal number is below 1 in magnitude, by the position of its first nonzero digit. For a number
// that std::from_chars found out of range: whether it is too small, not too large.
LAPSE_EXPORT bool is_below_one(std::string_view number);

// The first non-blank line of a file: every part of the file needs it to interpret its own lines.
struct FirstLine {
  std::string text;
  std::uint64_t offset = 0;  // as LineReader::line_offset
};

// Reads the start of a file for one of its parts. Returns nullopt if all lines are blank, and if the part
// reads the first line itself or has no lines (the whole file, and streams). Throws what LineReader throws.
LAPSE_EXPORT std::optional<FirstLine> first_line_for_part(const Input& input, FilePart part);

}  // namespace lapse::io

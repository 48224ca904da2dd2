#include "lapse/io/text/table_fields.hpp"

#include <array>

#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

struct KnownSeparator {
  std::string_view text;
  std::string_view option;
  std::string_view plural;
};

// In the order in which they are looked for: a tab is rarely part of a field, a comma often.
constexpr std::array<KnownSeparator, 6> kSeparators{{{"\t", "tab", "tabs"},
                                                     {"::", "colons", "double colons"},
                                                     {";", "semicolon", "semicolons"},
                                                     {",", "comma", "commas"},
                                                     {"|", "bar", "bars"},
                                                     {" ", "blanks", "blanks"}}};

}  // namespace

std::string find_separator(std::string_view line) {
  // Without what stands in quotes. A quote within a field hides nothing.
  std::string outside;
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins =
        outside.empty() || std::string_view("\t:;,| ").find(outside.back()) != std::string_view::npos;
    if (line[i] == '"' && (is_quoted || begins))
      is_quoted = !is_quoted;
    else if (!is_quoted)
      outside += line[i];
  }
  const std::string_view searched = is_quoted ? line : std::string_view(outside);
  for (const KnownSeparator& known : kSeparators)
    if (searched.find(known.text) != std::string_view::npos) return std::string(known.text);
  return " ";
}

std::string separator_of(std::string_view name) {
  for (const KnownSeparator& known : kSeparators)
    if (known.option == name) return std::string(known.text);
  return {};
}

std::string_view name_of_separators(std::string_view separator) {
  for (const KnownSeparator& known : kSeparators)
    if (known.text == separator) return known.plural;
  return "an unknown separator";
}

const std::vector<std::string_view>& TableFields::split(std::string_view line) {
  fields_.clear();
  if (!changed_.empty()) changed_.clear();
  has_open_quote_ = false;
  const bool by_blanks = separator_ == " ";
  std::string_view rest = by_blanks ? trimmed(line) : line;
  for (;;) {
    const std::size_t bytes = field_bytes(rest);
    fields_.push_back(without_quotes(trimmed(rest.substr(0, bytes))));
    if (bytes == rest.size()) return fields_;
    rest.remove_prefix(bytes + separator_.size());
    if (by_blanks) rest = trimmed(rest);
  }
}

std::size_t TableFields::field_bytes(std::string_view rest) {
  std::size_t from = 0;
  if (may_quote_separators()) {
    const std::size_t begin = rest.find_first_not_of(" \t");
    if (begin != std::string_view::npos && rest[begin] == '"') {
      // Two quotes in a row end the quotes and begin them again.
      from = rest.find('"', begin + 1);
      while (from != std::string_view::npos && from + 1 < rest.size() && rest[from + 1] == '"')
        from = rest.find('"', from + 2);
      has_open_quote_ = has_open_quote_ || from == std::string_view::npos;
      if (from == std::string_view::npos) return rest.size();
    }
  }
  std::size_t end = 0;
  if (separator_ == " ")
    end = rest.find_first_of(" \t", from);
  else
    end = separator_.size() == 1 ? rest.find(separator_.front(), from) : rest.find(separator_, from);
  return end == std::string_view::npos ? rest.size() : end;
}

std::string_view TableFields::without_quotes(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return field;
  field = field.substr(1, field.size() - 2);
  if (!may_quote_separators() || field.find('"') == std::string_view::npos) return field;
  std::string& text = changed_.emplace_back();
  for (std::size_t i = 0; i < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"' && i + 1 < field.size() && field[i + 1] == '"') ++i;
  }
  return text;
}

}  // namespace lapse::io

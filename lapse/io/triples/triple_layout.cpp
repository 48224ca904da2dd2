#include "lapse/io/triples/triple_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/io/text/table_columns.hpp"
#include "lapse/io/text/table_fields.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

bool looks_like_n_triples(std::string_view line) {
  line = trimmed(line);
  return line.ends_with('.') && (line.starts_with('<') || line.starts_with("_:")) &&
         line.find(" <") != std::string_view::npos;
}

// The term at the beginning of `rest`, which is taken from it.
std::string_view take_term(const LineReader& reader, std::string_view& rest, std::string_view what) {
  rest = trimmed(rest);
  std::size_t bytes = 0;  // of the term in the line
  std::string_view term;
  if (rest.starts_with('<')) {
    bytes = rest.find('>') + 1;  // 0: none
    if (bytes > 2) term = rest.substr(1, bytes - 2);
  } else if (rest.starts_with('"') && what == "object") {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
    bytes = end < rest.size() ? std::min(rest.find_first_of(" \t", end), rest.size()) : 0;
    term = rest.substr(0, bytes);
  } else if (rest.starts_with("_:") && what != "relation") {
    bytes = std::min(rest.find_first_of(" \t"), rest.size());
    term = rest.substr(0, bytes);
  }
  if (bytes == 0 || term.empty())
    reader.fail(
        fmt::format("'{}', expected the {} of a triple, as <http://example.org/{}>", shown(rest), what, what),
        rest);
  rest.remove_prefix(bytes);
  return term;
}

}  // namespace

TripleLayout find_triple_layout(const LineReader& reader, std::string_view first_line, std::uint64_t offset,
                                const TripleFormat& format) {
  TripleLayout layout{.first_offset = offset};
  if (format.columns.empty() && format.separator.empty() && looks_like_n_triples(first_line)) {
    layout.is_n_triples = true;
    return layout;
  }
  layout.separator = format.separator;
  // Unless columns are given, commas belong to names.
  if (layout.separator.empty() && format.columns.empty())
    layout.separator = first_line.find('\t') != std::string_view::npos ? "\t" : " ";
  if (layout.separator.empty()) layout.separator = find_separator(first_line);
  if (format.columns.empty()) return layout;
  TableFields splitter(layout.separator);
  const std::vector<std::string_view>& fields = splitter.split(first_line);
  layout.columns = fields.size();
  const std::vector<std::size_t> given = given_columns(reader, first_line, fields, format.columns);
  std::ranges::copy(given, layout.positions.begin());
  layout.has_header = has_column_names(format.columns);
  return layout;
}

NamedTriple parse_n_triple(const LineReader& reader, std::string_view line) {
  NamedTriple triple;
  std::string_view rest = line;
  triple.subject = take_term(reader, rest, "subject");
  triple.relation = take_term(reader, rest, "relation");
  triple.object = take_term(reader, rest, "object");
  rest = trimmed(rest);
  if (!rest.starts_with('.'))
    reader.fail(fmt::format("'{}', expected a dot at the end of a triple", shown(rest)), rest);
  return triple;
}

}  // namespace lapse::io

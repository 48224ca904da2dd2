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

// A term of N-Triples, and what is wrong where there is none.
class Terms {
 public:
  explicit Terms(std::string_view line) : rest_(trimmed(line)) {}

  std::string_view rest() const { return rest_; }

  // Takes the next term; empty if the line does not continue with one that may be the triple's `what`.
  std::string_view take(std::string_view what) {
    std::string_view term;
    std::size_t bytes = 0;  // of the term in the line
    if (rest_.starts_with('<')) {
      bytes = rest_.find('>') + 1;  // 0: none
      if (bytes > 2) term = rest_.substr(1, bytes - 2);
    } else if (rest_.starts_with('"') && what == "object") {
      bytes = literal_bytes();
      term = rest_.substr(0, bytes);
    } else if (rest_.starts_with("_:") && what != "relation") {
      bytes = std::min(rest_.find_first_of(" \t"), rest_.size());
      if (bytes == rest_.size() && rest_.ends_with('.')) --bytes;  // the dot after the triple
      term = rest_.substr(0, bytes);
    }
    if (!term.empty()) rest_ = trimmed(rest_.substr(bytes));
    return term;
  }

  // Whether nothing follows the triples's dot but a comment.
  bool end() const {
    if (!rest_.starts_with('.')) return false;
    const std::string_view after = trimmed(rest_.substr(1));
    return after.empty() || after.starts_with('#');
  }

 private:
  // With its language or type; 0 if its quotes do not end.
  std::size_t literal_bytes() const {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return 0;
    ++end;
    if (rest_.substr(end).starts_with("^^<")) return rest_.find('>', end) + 1;
    return std::min(rest_.find_first_of(" \t.", end), rest_.size());
  }

  std::string_view rest_;
};

bool is_n_triple(std::string_view line) {
  Terms terms(line);
  for (const std::string_view what : {"subject", "relation", "object"})
    if (terms.take(what).empty()) return false;
  return terms.end();
}

}  // namespace

TripleLayout find_triple_layout(const LineReader& reader, std::string_view first_line, std::uint64_t offset,
                                const TableFormat& format) {
  TripleLayout layout{.first_offset = offset};
  if (format.columns.empty() && format.separator.empty() && is_n_triple(first_line)) {
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
  Terms terms(line);
  const auto take = [&](std::string_view what) {
    const std::string_view term = terms.take(what);
    if (term.empty()) {
      reader.fail(fmt::format("'{}', expected the {} of a triple, as <http://example.org/{}>",
                              shown(terms.rest()), what, what),
                  terms.rest());
    }
    return term;
  };
  NamedTriple triple;
  triple.subject = take("subject");
  triple.relation = take("relation");
  triple.object = take("object");
  if (!terms.end()) {
    reader.fail(fmt::format("'{}', expected a dot, and after it nothing or a comment", shown(terms.rest())),
                terms.rest());
  }
  return triple;
}

}  // namespace lapse::io

#include "lapse/io/triples/triple_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "lapse/io/text/header_names.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

// A graph with fewer relations causes no warning.
constexpr std::uint64_t kFewRelations = 10;

constexpr std::array<std::string_view, 20> kColumnNames{
    "subject",    "subjectid",  "s",        "sub",        "head", "headid",   "h",
    "headentity", "object",     "objectid", "o",          "obj",  "tail",     "tailid",
    "t",          "tailentity", "relation", "relationid", "rel",  "predicate"};
constexpr std::array<std::string_view, 6> kRelationNames{"relation",  "relationid", "rel",
                                                         "predicate", "r",          "p"};

// How many different ids one column of the triples has.
template <class Column>
std::uint64_t different(std::span<const Triple> triples, std::uint64_t ids, Column column) {
  std::vector<bool> seen(ids);
  for (const Triple& triple : triples) seen[triple.*column] = true;
  return static_cast<std::uint64_t>(std::ranges::count(seen, true));
}

}  // namespace

std::string header_warning(const NamedTriple& first) {
  const auto is_name = [](std::string_view field) {
    return is_header_name(field, kColumnNames) || is_header_name(field, kRelationNames);
  };
  if (!is_name(first.subject) || !is_name(first.relation) || !is_name(first.object)) return {};
  const bool same_order = is_header_name(first.relation, kRelationNames);
  return fmt::format(
      "the first line, '{}', '{}', '{}', looks like the names of columns, and is read as a triple{}",
      shown(first.subject), shown(first.relation), shown(first.object),
      same_order ? "" : "; the columns are read as subject, relation and object");
}

std::string relation_warning(std::span<const Triple> triples, std::uint64_t entities,
                             std::uint64_t relations) {
  if (relations < kFewRelations || 2 * relations <= entities) return {};
  const std::uint64_t objects = different(triples, entities, &Triple::object);
  const std::uint64_t subjects = different(triples, entities, &Triple::subject);
  std::string other;
  if (std::min(subjects, objects) < relations)
    other = fmt::format("; the {} column has {}", objects <= subjects ? "third" : "first",
                        std::min(subjects, objects));
  return fmt::format(
      "the second column, read as the relation, has {} names, of {} entities in the first and the third{}: "
      "expected lines `subject relation object`",
      relations, entities, other);
}

}  // namespace lapse::io

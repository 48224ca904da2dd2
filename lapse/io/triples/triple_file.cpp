#include "lapse/io/triples/triple_file.hpp"

#include <fmt/format.h>

#include <array>

#include "lapse/io/triples/triple_columns.hpp"

namespace lapse::io {

namespace {

// Triples are separated by tabs or blanks; commas belong to names.
Separator separator_of(std::string_view line) {
  return line.find('\t') != std::string_view::npos ? Separator::tab : Separator::blanks;
}

// Records an unknown name.
void note(UnknownNames& unknown, const LineReader& lines, std::string_view name) {
  if (unknown.count++ == 0) {
    unknown.name = name;
    unknown.file = lines.path();
    unknown.line = lines.line_number();
    unknown.column = lines.column_of(name);
  }
}

}  // namespace

TripleReader::TripleReader(const Input& input, FilePart part)
    : lines_(input, part), is_before_first_(part.index == 0) {
  if (const auto first = first_line_for_part(input, part)) separator_ = separator_of(first->text);
}

bool TripleReader::next(NamedTriple& triple) {
  do {
    if (!lines_.next(line_)) return false;
  } while (trimmed(line_).empty());
  if (!separator_) separator_ = separator_of(line_);
  split(triple);
  if (is_before_first_) header_warning_ = io::header_warning(triple);
  is_before_first_ = false;
  return true;
}

void TripleReader::split(NamedTriple& triple) const {
  Fields fields(line_, *separator_);
  std::array<std::string_view, 3> names;
  std::size_t found = 0;
  while (found < names.size() && fields.next(names[found])) ++found;
  found += fields.count_rest();
  if (found != names.size()) {
    std::string separators(separator_name(*separator_));
    if (!is_before_first_) separators += " as in the first line";
    if (is_before_first_ && found == 1) separators = "tabs or blanks";
    lines_.fail(wrong_number_of_fields(line_, found, names.size(), "field", separators), line_);
  }
  for (const std::string_view name : names) {
    if (name.empty()) lines_.fail("empty name, expected subject, relation and object", name);
  }
  triple = {names[0], names[1], names[2]};
}

FileError UnknownNames::error(std::string_view what) const {
  const std::string others = count > 1 ? fmt::format(" ({} in all)", count) : "";
  return {file, fmt::format("unknown {} '{}'{}", what, shown(name), others), line, column};
}

TripleFile read_triples(const Input& input, const NameIds& entities, const NameIds& relations,
                        FilePart part) {
  TripleFile result;
  TripleReader reader(input, part);
  for (NamedTriple names; reader.next(names);) {
    const auto relation = relations.id_of(names.relation);
    if (!relation) {
      note(result.unknown_relations, reader.lines(), names.relation);
      ++result.left_out;
      continue;
    }
    const auto subject = entities.id_of(names.subject);
    const auto object = entities.id_of(names.object);
    if (subject && object) {
      result.triples.push_back({*subject, *relation, *object});
      continue;
    }
    if (!subject) note(result.unknown_entities, reader.lines(), names.subject);
    if (!object) note(result.unknown_entities, reader.lines(), names.object);
    ++result.left_out;
  }
  if (const std::string& warning = reader.header_warning(); !warning.empty())
    result.warning = fmt::format("{}: {}", reader.lines().path(), warning);
  return result;
}

std::vector<Triple> read_id_triples(const Input& input, Vocabulary::Id max_entity,
                                    Vocabulary::Id max_relation, FilePart part) {
  std::vector<Triple> triples;
  TripleReader reader(input, part);
  const auto id = [&](std::string_view field, std::string_view what, Vocabulary::Id max) {
    return static_cast<Vocabulary::Id>(parse_id(reader.lines(), field, what, max));
  };
  for (NamedTriple fields; reader.next(fields);) {
    triples.push_back({id(fields.subject, "subject", max_entity),
                       id(fields.relation, "relation", max_relation),
                       id(fields.object, "object", max_entity)});
  }
  return triples;
}

void translate(std::vector<Triple>& triples, const std::vector<Vocabulary::Id>& entity_ids,
               const std::vector<Vocabulary::Id>& relation_ids) {
  const auto replacement = [](const std::vector<Vocabulary::Id>& ids, Vocabulary::Id id, const char* what) {
    if (id >= ids.size()) {
      throw UsageError(
          fmt::format("{} {} of a triple has no replacement: there are {}", what, id, ids.size()));
    }
    return ids[id];
  };
  for (Triple& triple : triples) {
    triple = {replacement(entity_ids, triple.subject, "entity"),
              replacement(relation_ids, triple.relation, "relation"),
              replacement(entity_ids, triple.object, "entity")};
  }
}

}  // namespace lapse::io

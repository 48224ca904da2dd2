#include "lapse/io/triples/triple_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "lapse/io/text/table_fields.hpp"
#include "lapse/io/text/text_fields.hpp"
#include "lapse/io/triples/triple_columns.hpp"
#include "lapse/io/triples/triple_layout.hpp"

namespace lapse::io {

namespace {

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

struct TripleReader::Lines {
  TripleLayout layout;
  TableFields fields;

  explicit Lines(TripleLayout of_first) : layout(std::move(of_first)), fields(layout.separator) {}
};

TripleReader::TripleReader(const Input& input, FilePart part, TableFormat format)
    : lines_(input, part), format_(std::move(format)), is_before_first_(part.index == 0) {
  if (!format_.columns.empty() && format_.columns.size() != 3)
    throw UsageError(
        fmt::format("{} columns of a triple file, expected those of subject, relation and object",
                    format_.columns.size()));
  if (!first_line_for_part(input, part)) return;
  LineReader lines(input);
  for (std::string_view line; divided_ == nullptr && lines.next(line);) {
    if (trimmed(line).empty() || is_comment(line)) continue;
    divided_ = std::make_unique<Lines>(find_triple_layout(lines_, line, lines.line_offset(), format_));
  }
}

TripleReader::~TripleReader() = default;

bool TripleReader::next(NamedTriple& triple) {
  do {
    if (!lines_.next(line_)) return false;
    if (trimmed(line_).empty()) continue;
    if (is_before_layout() && is_comment(line_)) {
      header_warning_ = "the first lines, which begin with #, are skipped as comments";
      continue;
    }
    if (divided_ == nullptr)
      divided_ = std::make_unique<Lines>(find_triple_layout(lines_, line_, lines_.line_offset(), format_));
  } while (is_skipped());
  split(triple);
  if (is_before_first_ && !divided_->layout.is_n_triples && header_warning_.empty())
    header_warning_ = io::header_warning(triple);
  is_before_first_ = false;
  return true;
}

bool TripleReader::is_before_layout() const {
  return divided_ == nullptr || lines_.line_offset() < divided_->layout.first_offset;
}

// Before the first triple, which says whether the file is one of N-Triples.
bool TripleReader::is_comment(std::string_view line) const {
  return format_.columns.empty() && format_.separator.empty() && trimmed(line).starts_with('#') &&
         line.find('\t') == std::string_view::npos;
}

std::string TripleReader::layout() const {
  if (!divided_) return {};
  const TripleLayout& layout = divided_->layout;
  if (layout.is_n_triples) return "N-Triples";
  const auto [subject, relation, object] = layout.positions;
  return fmt::format(
      "separated by {}; subject: column {}, relation: column {}, object: column {}; {} columns{}",
      name_of_separators(layout.separator), subject + 1, relation + 1, object + 1, layout.columns,
      layout.has_header ? ", the first line names them" : "");
}

bool TripleReader::is_skipped() const {
  const std::string_view text = trimmed(line_);
  if (text.empty() || is_before_layout()) return true;
  if (divided_->layout.is_n_triples) return text.front() == '#';
  return divided_->layout.has_header && lines_.line_offset() == divided_->layout.first_offset;
}

void TripleReader::split(NamedTriple& triple) {
  const TripleLayout& layout = divided_->layout;
  if (layout.is_n_triples) {
    triple = parse_n_triple(lines_, line_);
    return;
  }
  const std::vector<std::string_view>& fields = divided_->fields.split(line_);
  if (divided_->fields.has_open_quote())
    lines_.fail("a quote that begins a field does not end in the line", line_);
  if (fields.size() != layout.columns) {
    std::string separators(name_of_separators(layout.separator));
    if (!is_before_first_) separators += " as in the first line";
    if (is_before_first_ && fields.size() == 1 && format_.separator.empty()) separators = "tabs or blanks";
    lines_.fail(wrong_number_of_fields(line_, fields.size(), layout.columns, "field", separators), line_);
  }
  const auto [subject, relation, object] = layout.positions;
  for (const std::size_t position : layout.positions) {
    if (fields[position].empty())
      lines_.fail("empty name, expected subject, relation and object", fields[position]);
  }
  triple = {fields[subject], fields[relation], fields[object]};
}

FileError UnknownNames::error(std::string_view what) const {
  const std::string others = count > 1 ? fmt::format(" ({} in all)", count) : "";
  return {file, fmt::format("unknown {} '{}'{}", what, shown(name), others), line, column};
}

TripleFile read_triples(const Input& input, const NameIds& entities, const NameIds& relations, FilePart part,
                        const TableFormat& format) {
  TripleFile result;
  TripleReader reader(input, part, format);
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
  result.layout = reader.layout();
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

// Triple files: one fact a line, `subject<TAB>relation<TAB>object`, as used for knowledge graphs (FB15k,
// WN18RR, Wikidata5M).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_part.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::io {

struct Triple {
  Vocabulary::Id subject = 0;
  Vocabulary::Id relation = 0;
  Vocabulary::Id object = 0;

  bool operator==(const Triple&) const = default;
};

struct NamedTriple {
  std::string_view subject;
  std::string_view relation;
  std::string_view object;
};

// Reads triples of names. Every line has exactly three fields, separated by tabs or by runs of blanks, as
// the first line decides (tabs if it has one). Between tabs, names may contain blanks; blanks around a name
// do not belong to it. Blank lines are ignored. Used by one thread.
class LAPSE_EXPORT TripleReader {
 public:
  // Throws as LineReader does.
  explicit TripleReader(const Input& input, FilePart part = {});

  // Gives the next triple of the part; false at the end. The views are valid until the next call. Throws
  // FileError with line and column for another number of fields than three, an empty name, and whatever
  // LineReader reports.
  bool next(NamedTriple& triple);

  // The first line of the file where it looks like names of columns, as a message; else empty.
  const std::string& header_warning() const { return header_warning_; }

  // The reader, which reports the position of the fields that next gave last.
  const LineReader& lines() const { return lines_; }

 private:
  void split(NamedTriple& triple) const;

  LineReader lines_;
  std::string_view line_;
  std::optional<Separator> separator_;  // none before the first line
  bool is_before_first_;                // no triple of the file was read
  std::string header_warning_;
};

// How names become ids: the vocabulary is frozen, or it grows.
class NameIds {
 public:
  // Names that the vocabulary lacks have no id.
  static NameIds frozen(const Vocabulary& vocabulary) { return {&vocabulary, nullptr, 0}; }
  // Names that the vocabulary lacks get the next id; each occurrence raises the count. With 0 occurrences,
  // names that no other file has keep the count 0, and are sorted behind all others.
  static NameIds growing(Vocabulary& vocabulary, std::uint64_t occurrences = 1) {
    return {&vocabulary, &vocabulary, occurrences};
  }

  std::optional<Vocabulary::Id> id_of(std::string_view name) const {
    return grown_ != nullptr ? grown_->add(name, occurrences_) : vocabulary_->find(name);
  }

 private:
  NameIds(const Vocabulary* vocabulary, Vocabulary* grown, std::uint64_t occurrences)
      : vocabulary_(vocabulary), grown_(grown), occurrences_(occurrences) {}

  const Vocabulary* vocabulary_;
  Vocabulary* grown_;  // none: frozen
  std::uint64_t occurrences_;
};

// Names of a file that a frozen vocabulary lacks.
struct LAPSE_EXPORT UnknownNames {
  std::uint64_t count = 0;  // occurrences
  // The first unknown name, and its position.
  std::string name;
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t column = 0;

  // The error for callers who do not accept them, such as "test.txt:7:9: unknown relation '_likes' (3 in
  // all)". `what`: entity, relation, ...
  FileError error(std::string_view what) const;
};

struct TripleFile {
  std::vector<Triple> triples;  // whose names are all known, in the order of the file
  std::uint64_t left_out = 0;   // triples with an unknown name
  UnknownNames unknown_entities;
  UnknownNames unknown_relations;
  std::string warning;  // what the user of the file should know: a first line of names of columns; else empty
};

// Reads triples of ids. A triple with an unknown name is left out and reported; the caller decides. Its names
// are not added to growing vocabularies when its relation is unknown. Throws as TripleReader does. A file
// without triples gives none.
LAPSE_EXPORT TripleFile read_triples(const Input& input, const NameIds& entities, const NameIds& relations,
                                     FilePart part = {});

// Reads triples of numbers, in the same format. Throws as TripleReader does, and FileError with line and
// column for a field that is no integer from 0 to max_entity, or max_relation.
LAPSE_EXPORT std::vector<Triple> read_id_triples(const Input& input, Vocabulary::Id max_entity,
                                                 Vocabulary::Id max_relation, FilePart part = {});

// Replaces ids: entity e by entity_ids[e], relation r by relation_ids[r] (Vocabulary::translation_to). Throws
// UsageError for an id without a replacement.
LAPSE_EXPORT void translate(std::vector<Triple>& triples, const std::vector<Vocabulary::Id>& entity_ids,
                            const std::vector<Vocabulary::Id>& relation_ids);

}  // namespace lapse::io

// Triple files: one fact per line, `subject<TAB>relation<TAB>object`, as used for knowledge graphs (FB15k,
// WN18RR, Wikidata5M), N-Triples, and tables with other columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_part.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/table_columns.hpp"
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

// Reads triples of names. Every line has exactly three fields, separated by tabs or by runs of blanks, as the
// first line determines (tabs if it has one), or what the format says. Between tabs, names may contain
// blanks; blanks and quotes around a name do not belong to it. If the first line is one of N-Triples
// (`<subject> <relation> <object> .`), all are (parse_n_triple), or comments that begin with #. Ignores blank
// lines. Used by one thread.
class LAPSE_EXPORT TripleReader {
 public:
  // Throws what LineReader throws, and UsageError for other than three columns.
  explicit TripleReader(const Input& input, FilePart part = {}, TableFormat format = {});
  ~TripleReader();

  // Sets `triple` to the part's next triple, with views valid until the next call; returns false at the end.
  // Throws FileError with line and column for another number of fields, an empty name, quotes that do not
  // end, columns that the first line lacks, and whatever LineReader reports.
  bool next(NamedTriple& triple);

  // A message with the file's first line if that looks like column names; otherwise empty.
  const std::string& header_warning() const { return header_warning_; }

  // How the lines are understood; empty before the first line.
  std::string layout() const;
  // The reader, which reports the position of the fields that next returned last.
  const LineReader& lines() const { return lines_; }

 private:
  struct Lines;  // how they are divided

  bool is_before_layout() const;
  bool is_comment(std::string_view line) const;
  bool is_skipped() const;
  void split(NamedTriple& triple);

  LineReader lines_;
  TableFormat format_;
  std::string_view line_;
  std::unique_ptr<Lines> divided_;  // null before the first line
  bool is_before_first_;            // no triple of the file has been read
  std::string header_warning_;
};

// How names become ids: by a frozen or a growing vocabulary.
class NameIds {
 public:
  // Names that the vocabulary lacks have no id.
  static NameIds frozen(const Vocabulary& vocabulary) { return {&vocabulary, nullptr, 0}; }
  // Names that the vocabulary lacks get the next id; each occurrence adds `occurrences` to the count. With 0,
  // names that occur in no other file keep the count 0 and are sorted last.
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
  Vocabulary* grown_;  // null: frozen
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

  // The error for callers that do not accept them, such as "test.txt:7:9: unknown relation '_likes' (3 in
  // all)". `what`: entity, relation, ...
  FileError error(std::string_view what) const;
};

struct TripleFile {
  std::vector<Triple> triples;  // only those with known names, in file order
  std::uint64_t left_out = 0;   // triples with an unknown name
  UnknownNames unknown_entities;
  UnknownNames unknown_relations;
  std::string layout = {};  // how the file was understood
  std::string warning;  // what the file's user should know: the first line has column names; otherwise empty
};

// Reads triples as ids. Leaves out and reports a triple with an unknown name; the caller decides. Does not
// add its names to growing vocabularies if its relation is unknown. Throws what TripleReader throws. A file
// may be empty.
LAPSE_EXPORT TripleFile read_triples(const Input& input, const NameIds& entities, const NameIds& relations,
                                     FilePart part = {}, const TableFormat& format = {});

// Reads triples of numbers, in the same format. Throws what TripleReader throws, and FileError with line and
// column for a field that is not an integer from 0 to max_entity or max_relation.
LAPSE_EXPORT std::vector<Triple> read_id_triples(const Input& input, Vocabulary::Id max_entity,
                                                 Vocabulary::Id max_relation, FilePart part = {});

// Replaces entity e by entity_ids[e] and relation r by relation_ids[r] (Vocabulary::translation_to). Throws
// UsageError for an id without a replacement.
LAPSE_EXPORT void translate(std::vector<Triple>& triples, const std::vector<Vocabulary::Id>& entity_ids,
                            const std::vector<Vocabulary::Id>& relation_ids);

}  // namespace lapse::io

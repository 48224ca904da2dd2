// A text to train on: files and their words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/text_form.hpp"
#include "lapse/io/files/file_part.hpp"
#include "lapse/io/loading/reader_group.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"
#include "lapse/io/vocabulary/vocabulary_merge.hpp"

namespace lapse::apps {

using WordId = io::Vocabulary::Id;

struct CorpusOptions {
  std::vector<std::string> files;  // text, plain or compressed
  std::uint64_t min_count = 5;     // rarer words are left out
  io::Vocabulary stop_words = {};  // left out
  TextForm form = {};
};

// A text file has words separated by blanks, and a sentence on each line.
struct Corpus {
  std::vector<std::string> files;
  TextForm form = {};
  std::uint64_t files_checksum = 0;  // of properties that determine positions in the files: see checksum_of
  io::Vocabulary words;              // by descending count
  std::uint64_t occurrences = 0;     // of these words in the files
};

// Longer words suggest a file that is not text.
inline constexpr std::size_t kMaxWordBytes = 1000;

// Collective over the group. Throws FileError for streams that can be read only once, because files are read
// several times, and what io::shared_inputs throws for a file that a rank lacks.
void check_corpus_files(const std::vector<std::string>& files, const io::ReaderGroup& group);

// A checksum of the files' number, order, sizes and first bytes. Throws FileError.
std::uint64_t checksum_of(const std::vector<std::string>& files);

// Calls f(word) for each word of the line, which the reader has read, in the form of `text`. Throws
// FileError, with line and column, for text that is not UTF-8 and for a word longer than kMaxWordBytes.
void for_each_word(const io::LineReader& reader, std::string_view line, FormedText& text,
                   const std::function<void(std::string_view)>& f);

// Counts the words of a part of each file. Throws what for_each_word and LineReader throw.
io::Vocabulary count_words(const std::vector<std::string>& files, io::FilePart part, TextForm form = {});

// Collective. Makes the corpus from the words counted by all ranks, equal on all ranks. Throws
// ConfigurationError if no word occurs often enough.
Corpus make_corpus(const CorpusOptions& options, const io::Vocabulary& counted,
                   const io::AllGather& all_gather);

}  // namespace lapse::apps

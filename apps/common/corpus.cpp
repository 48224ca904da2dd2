#include "apps/common/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "apps/common/run_identity.hpp"
#include "apps/common/word_splitter.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/files/utf8.hpp"
#include "lapse/io/loading/shared_inputs.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::apps {

void check_corpus_files(const std::vector<std::string>& files, const io::ReaderGroup& group) {
  if (group.is_first) {
    for (const std::string& path : files) {
      if (!io::is_stream(path)) continue;
      throw FileError(
          io::input_name(path),
          "can be read once only, and a text is read for its vocabulary and then again: expected a "
          "regular file");
    }
  }
  static_cast<void>(io::shared_inputs(files, group));
}

std::uint64_t checksum_of(const std::vector<std::string>& files) {
  constexpr std::size_t kFirstBytes = std::size_t{1} << 20U;
  DataChecksum sum;
  sum.add(std::uint64_t{files.size()});
  for (const std::string& path : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    std::string bytes(std::min<std::uintmax_t>(size, kFirstBytes), '\0');
    std::ifstream file(path, std::ios::binary);
    if (error || !file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      throw FileError(path, error ? error.message() : "cannot be read");
    sum.add(std::uint64_t{size});
    sum.add(bytes);
  }
  return sum.value();
}

void for_each_word(const io::LineReader& reader, std::string_view line, FormedText& text,
                   const std::function<void(std::string_view)>& f) {
  const std::size_t valid = io::valid_utf8_bytes(line);
  if (valid != line.size()) reader.fail("byte that is not UTF-8, expected a text file", line.substr(valid));
  WordSplitter splitter(text.form(line));
  for (std::string_view word; splitter.next(word);) {
    if (word.size() > kMaxWordBytes) {
      reader.fail(fmt::format("word '{}' of {} bytes, expected at most {}", io::shown(word), word.size(),
                              kMaxWordBytes),
                  word);
    }
    f(word);
  }
}

io::Vocabulary count_words(const std::vector<std::string>& files, io::FilePart part, TextForm form) {
  FormedText text(form);
  io::Vocabulary words;
  for (const std::string& path : files) {
    io::LineReader reader(path, part);
    for (std::string_view line; reader.next(line);) {
      for_each_word(reader, line, text, [&](std::string_view word) { words.add(word); });
    }
  }
  return words;
}

Corpus make_corpus(const CorpusOptions& options, const io::Vocabulary& counted,
                   const io::AllGather& all_gather) {
  const io::Vocabulary all = io::merge_vocabularies(counted, all_gather);
  Corpus corpus;
  corpus.files = options.files;
  corpus.form = options.form;
  for (WordId id = 0; id < all.size() && all.count(id) >= options.min_count; ++id) {
    if (options.stop_words.find(all.name(id))) continue;
    corpus.words.add(all.name(id), all.count(id));
    corpus.occurrences += all.count(id);
  }
  if (!corpus.words.empty()) return corpus;
  if (all.empty()) throw ConfigurationError("the text has no words");
  if (all.count(0) >= options.min_count) {
    throw ConfigurationError(
        fmt::format("all words of the text that occur {} times are stop words: expected others, or a smaller "
                    "minimum count",
                    options.min_count));
  }
  throw ConfigurationError(
      fmt::format("none of the {} different words of the text occurs {} times (the most frequent, '{}', {}): "
                  "expected a smaller minimum count",
                  all.size(), options.min_count, io::shown(all.name(0)), all.count(0)));
}

}  // namespace lapse::apps

#include "apps/topic_model/text_documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "apps/common/corpus.hpp"
#include "apps/common/text_form.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/text/line_reader.hpp"

namespace lapse::apps {

namespace {

// Sorts the words and sums the counts of equal ones.
void merge(std::vector<io::WordCount>& words) {
  std::ranges::sort(words, {}, &io::WordCount::word);
  std::size_t merged = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (merged != 0 && words[merged - 1].word == words[i].word)
      words[merged - 1].count += words[i].count;
    else
      words[merged++] = words[i];
  }
  words.resize(merged);
}

}  // namespace

TextDocuments read_text_documents(const io::Input& input, const io::Vocabulary& vocabulary,
                                  io::DocumentPart part, TextForm form) {
  FormedText text(form);
  TextDocuments documents{.bag = io::BagOfWords(vocabulary.size())};
  std::vector<io::WordCount> words;
  io::LineReader reader(input);
  std::uint64_t number = 0;
  for (std::string_view line; reader.next(line); ++number) {
    words.clear();
    std::uint64_t tokens = 0;
    for_each_word(reader, line, text, [&](std::string_view word) {
      ++tokens;
      if (const auto id = vocabulary.find(word)) words.push_back({*id, 1});
    });
    if (tokens == 0) reader.fail("a document without words, expected words separated by blanks", line);
    documents.unknown_tokens += tokens - words.size();
    if (words.empty()) ++documents.empty_documents;
    merge(words);
    documents.bag.add(words, part.has(number));
  }
  if (number == 0)
    throw FileError(reader.path(), "has no documents, expected lines of words separated by blanks");
  if (documents.empty_documents == number) {
    throw FileError(reader.path(), fmt::format("none of the words of its {} documents is among the {} words "
                                               "of the vocabulary",
                                               number, vocabulary.size()));
  }
  return documents;
}

}  // namespace lapse::apps

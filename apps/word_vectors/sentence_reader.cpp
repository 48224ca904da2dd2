#include "apps/word_vectors/sentence_reader.hpp"

#include "apps/common/word_splitter.hpp"

namespace lapse::apps {

bool SentenceReader::next(Sentence& sentence) {
  for (;;) {
    std::string_view line;
    while (!reader_ || !reader_->next(line)) {
      if (files_opened_ == corpus_.files.size()) return false;
      reader_.emplace(corpus_.files[files_opened_++], part_);
    }
    sentence.clear();
    WordSplitter splitter(text_.form(line));
    for (std::string_view word; splitter.next(word);) {
      if (const auto id = corpus_.words.find(word)) sentence.push_back(*id);
    }
    if (!sentence.empty()) return true;
  }
}

}  // namespace lapse::apps

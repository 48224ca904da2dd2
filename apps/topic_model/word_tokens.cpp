#include "apps/topic_model/word_tokens.hpp"

namespace lapse::apps {

WordTokens::WordTokens(const io::BagOfWords& bag, std::span<const std::size_t> documents) {
  std::vector<std::size_t> ends(bag.words());  // by word of the collection
  for (const std::size_t document : documents) {
    numbers_.push_back(bag.number(document));
    std::uint64_t length = 0;
    for (const io::WordCount& word : bag.document(document)) {
      ends[word.word] += word.count;
      length += word.count;
    }
    lengths_.push_back(length);
  }
  std::size_t end = 0;
  for (std::size_t word = 0; word < ends.size(); ++word) {
    const std::size_t occurrences = ends[word];
    ends[word] = end;  // of the tokens that are placed
    end += occurrences;
    if (occurrences == 0) continue;
    words_.push_back(static_cast<io::Vocabulary::Id>(word));
    ends_.push_back(end);
  }
  tokens_.resize(end);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    for (const io::WordCount& word : bag.document(documents[i])) {
      for (std::uint32_t n = 0; n < word.count; ++n)
        tokens_[ends[word.word]++].document = static_cast<std::uint32_t>(i);
    }
  }
}

}  // namespace lapse::apps

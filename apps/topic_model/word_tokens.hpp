// The tokens of a worker's documents by word, with the topic of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::apps {

using TopicId = std::uint32_t;

// Tokens are the occurrences of words in documents. Within a word they are in the order of its documents.
class WordTokens {
 public:
  struct Token {
    std::uint32_t document = 0;  // of the worker, from 0
    TopicId topic = 0;
  };

  // The documents with these indices in `bag`, which become numbers 0, 1, ...; all tokens have topic 0.
  WordTokens(const io::BagOfWords& bag, std::span<const std::size_t> documents);

  // The words that occur, in ascending order.
  std::span<const io::Vocabulary::Id> words() const { return words_; }
  std::span<Token> tokens(std::size_t word) {
    const std::size_t begin = word == 0 ? 0 : ends_[word - 1];
    return std::span(tokens_).subspan(begin, ends_[word] - begin);
  }
  std::span<const Token> tokens(std::size_t word) const {
    const std::size_t begin = word == 0 ? 0 : ends_[word - 1];
    return std::span(tokens_).subspan(begin, ends_[word] - begin);
  }
  std::span<Token> all() { return tokens_; }
  std::span<const Token> all() const { return tokens_; }
  std::size_t size() const { return tokens_.size(); }
  std::size_t documents() const { return numbers_.size(); }
  // A document's number in the collection, and its tokens.
  std::uint64_t number(std::size_t document) const { return numbers_[document]; }
  std::uint64_t length(std::size_t document) const { return lengths_[document]; }

 private:
  std::vector<io::Vocabulary::Id> words_;
  std::vector<std::size_t> ends_;  // of the words, in tokens_
  std::vector<Token> tokens_;
  std::vector<std::uint64_t> numbers_;  // by document
  std::vector<std::uint64_t> lengths_;
};

}  // namespace lapse::apps

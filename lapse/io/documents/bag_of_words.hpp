// Bags of words: how often each word occurs in each document, in the format of the UCI repository (KOS, NIPS,
// Enron).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::io {

struct WordCount {
  Vocabulary::Id word = 0;  // from 0
  std::uint32_t count = 0;  // at least 1

  bool operator==(const WordCount&) const = default;
};

// Documents of a collection, and their words.
class LAPSE_EXPORT BagOfWords {
 public:
  // `words`: number of different words of the collection.
  explicit BagOfWords(std::uint64_t words) : words_(words) {}

  // Adds the next document of the collection: its words if this object `keeps` them, else only their number.
  void add(std::span<const WordCount> words, bool keeps = true);

  // Those that this object has, and their numbers in the collection, from 0.
  std::size_t documents() const { return numbers_.size(); }
  std::uint64_t number(std::size_t document) const { return numbers_[document]; }
  // In the order of the file.
  std::span<const WordCount> document(std::size_t document) const {
    const std::size_t begin = document == 0 ? 0 : ends_[document - 1];
    return std::span(entries_).subspan(begin, ends_[document] - begin);
  }
  // In these documents.
  std::uint64_t tokens() const { return tokens_; }

  // Of the whole collection: the tokens of each document, and the number of different words. A token is one
  // occurrence of a word.
  std::span<const std::uint64_t> lengths() const { return lengths_; }
  std::uint64_t words() const { return words_; }
  // Of all documents, words and counts in their order.
  std::uint64_t checksum() const { return checksum_; }

 private:
  std::vector<std::uint64_t> lengths_;
  std::uint64_t words_;
  std::uint64_t tokens_ = 0;
  std::uint64_t checksum_ = 0;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::size_t> ends_;  // of the documents, in entries_
  std::vector<WordCount> entries_;
};

// The documents of one of several readers: those whose numbers modulo `count` are index to index + width - 1.
struct DocumentPart {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
  std::uint64_t width = 1;

  bool has(std::uint64_t number) const {
    const std::uint64_t place = number % count;
    return place >= index && place - index < width;
  }
};

// Reads a bag of words, plain or compressed, or standard input (the path "-"). Three lines with the numbers
// of documents, of different words, and of the lines that follow; then lines `document word count`, separated
// by blanks or tabs, with documents and words counted from 1, documents in ascending order. A word that a
// document has in two lines occurs as often as both say. Blank lines are ignored. Every part reads the whole
// file and keeps its documents.
//
// Throws FileError with line and column for: fewer or more fields, a field that is no integer, no documents
// or words, a document or word above the number at the beginning, a document that is neither that of the line
// before nor the next one, a count of 0 or above 2^31 - 1, another number of lines than announced, and
// whatever LineReader reports; without a line if the last documents have no words. Throws UsageError if
// index + width exceeds count, or count is 0; OutOfMemory, with the line.
LAPSE_EXPORT BagOfWords read_bag_of_words(const Input& input, DocumentPart part = {});

}  // namespace lapse::io

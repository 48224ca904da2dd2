// Splits a line into words.
#pragma once

#include <cstddef>
#include <string_view>

namespace lapse::apps {

// Words are separated by blanks, tabs and carriage returns, so that none contains a separator of vector
// files. The line must outlive the object.
class WordSplitter {
 public:
  explicit WordSplitter(std::string_view line) : rest_(line) {}

  // Returns false if there are no more words.
  bool next(std::string_view& word) {
    std::size_t begin = 0;
    while (begin < rest_.size() && is_blank(rest_[begin])) ++begin;
    std::size_t end = begin;
    while (end < rest_.size() && !is_blank(rest_[end])) ++end;
    word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return !word.empty();
  }

 private:
  static bool is_blank(char character) { return character == ' ' || character == '\t' || character == '\r'; }

  std::string_view rest_;
};

}  // namespace lapse::apps

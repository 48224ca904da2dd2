#include "apps/word_vectors/vector_input.hpp"

#include <fmt/format.h>

#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/files/input_error.hpp"

namespace lapse::apps {

VectorInput::VectorInput(const io::Input& input) : path_(io::input_name(input.path())), stream_(input) {}

std::string_view VectorInput::take_until(char delimiter, std::size_t max_bytes, std::string_view what) {
  for (std::size_t searched = 0;;) {
    const std::string_view rest = peek(searched + 1);
    const std::size_t end = rest.find(delimiter, searched);
    if (end <= max_bytes && end != std::string_view::npos) {
      take(end + 1);
      return rest.substr(0, end);
    }
    if (rest.size() > max_bytes) fail(fmt::format("more than {} bytes, expected {}", max_bytes, what));
    if (ended_) {
      if (delimiter == '\n' && !rest.empty()) {
        take(rest.size());
        return rest;
      }
      fail_cut_off(what);
    }
    searched = rest.size();
  }
}

std::string_view VectorInput::take_whole_line(std::size_t max_bytes) {
  const std::string_view line = take_until('\n', max_bytes, "a line of numbers");
  if (begin_ == 0 || buffer_[begin_ - 1] != '\n') fail_cut_off("the end of the line");
  return line;
}

bool VectorInput::is_at_end() {
  while (!peek(1).empty() && std::string_view(" \r\n").find(peek(1).front()) != std::string_view::npos)
    take(1);
  return peek(1).empty();
}

void VectorInput::fail(const std::string& problem) const {
  throw FileError(path_, problem + hint_, line_);
}

void VectorInput::fail_cut_off(std::string_view what) const {
  fail(fmt::format("the file ends, expected {}: it is cut off, or no file of word vectors", what));
}

void VectorInput::refill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kBytesAtOnce);
  try {
    buffer_.resize(size + stream_.read({buffer_.data() + size, kBytesAtOnce}));
  } catch (const io::InputError& error) {
    fail(error.what());
  }
  ended_ = buffer_.size() == size;
}

}  // namespace lapse::apps

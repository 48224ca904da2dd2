// Reads files of vectors, with lookahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "lapse/io/files/input.hpp"
#include "lapse/io/text/input_stream.hpp"

namespace lapse::apps {

// The bytes of an input. Views are valid until the next call. Used by one thread.
class VectorInput {
 public:
  explicit VectorInput(const io::Input& input);

  // At least `bytes` bytes from the current position, or all that are left.
  std::string_view peek(std::size_t bytes) {
    while (buffer_.size() - begin_ < bytes && !ended_) refill();
    return std::string_view(buffer_).substr(begin_);
  }
  // Takes the bytes before the delimiter, and the delimiter. The end of the file also ends the last line.
  std::string_view take_until(char delimiter, std::size_t max_bytes, std::string_view what);
  void take(std::size_t bytes) { begin_ += bytes; }
  // Takes a line and its end, which must be there: without a header, nothing else shows that a file is cut
  // off.
  std::string_view take_whole_line(std::size_t max_bytes);
  // Takes blanks and line ends. Whether nothing follows.
  bool is_at_end();

  void start_line(std::uint64_t line) { line_ = line; }
  // The position for later errors.
  void set_hint(std::string hint) { hint_ = std::move(hint); }
  // Throw FileError.
  [[noreturn]] void fail(const std::string& problem) const;
  [[noreturn]] void fail_cut_off(std::string_view what) const;

 private:
  static constexpr std::size_t kBytesAtOnce = std::size_t{1} << 16;

  void refill();

  std::string path_;
  io::InputStream stream_;
  std::string buffer_;  // bytes not yet taken begin at begin_
  std::size_t begin_ = 0;
  bool ended_ = false;
  std::uint64_t line_ = 1;  // or the number of the vector
  std::string hint_;
};

}  // namespace lapse::apps

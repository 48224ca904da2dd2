// A text file, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::io {

// Reads in blocks, so that memory stays constant, pipes work, and a file that shrinks meanwhile is no fault
// signal (as it would be in a memory map). A byte order mark at the start is skipped. Used by one thread.
class LineReader {
 public:
  // Longer lines are taken for a sign of a binary file.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  // Throws FileError when the file is missing, unreadable or a directory.
  explicit LineReader(std::string path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Gives the next line without its end ("\n" or "\r\n"; the last line needs none); false at the end of the
  // file. The view is valid until the next call. Throws FileError on a failing read or a line above
  // kMaxLineBytes.
  bool next(std::string_view& line);

  // Number of the line that next gave last, from 1; 0 before the first.
  std::uint64_t line_number() const { return line_number_; }
  const std::string& path() const { return path_; }

 private:
  // Keeps the bytes that begin an unfinished line and reads a block behind them. False when the file has no
  // more.
  bool refill();

  std::string path_;
  std::vector<char> buffer_;
  int descriptor_;
  std::size_t begin_ = 0;  // the bytes of buffer_ not yet given out are [begin_, end_)
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::uint64_t line_number_ = 0;
};

}  // namespace lapse::io

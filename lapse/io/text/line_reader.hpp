// A text file, line by line, whole or in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/io/files/file_part.hpp"
#include "lapse/io/text/input_stream.hpp"

namespace lapse::io {

// Reads a file, plain or compressed, a pipe, standard input (the name "-") or what a source gives. Reads in
// blocks, so that memory stays constant, pipes work, and a file that shrinks meanwhile is no fault signal (as
// it would be in a memory map). A byte order mark at the start is skipped. The readers of all parts together
// give every line of the file exactly once, provided that the file does not change meanwhile; PartScheme
// defines the parts. Used by one thread.
class LAPSE_EXPORT LineReader {
 public:
  // Longer lines are taken for a sign of a binary file.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
  // PartScheme::line_blocks: so many lines in a row belong to one part.
  static constexpr std::uint64_t kLinesPerBlock = 64;

  // Throws FileError when the file is missing, unreadable, a directory or of an unknown compression, and
  // UsageError unless part.index < part.count, and for a part of a source, which is read whole.
  explicit LineReader(const Input& input, FilePart part = {});

  // Gives the next line of the part without its end ("\n" or "\r\n"; the last line needs none); false at the
  // end. The view is valid until the next call. Throws FileError, with the line, on a failing read, on
  // compressed data that are damaged or cut off, on a line above kMaxLineBytes and, with the column, on a NUL
  // byte. The lines before the damage are given first.
  bool next(std::string_view& line);

  // Number in the whole file of the line that next gave last, from 1. For parts that begin within a plain
  // file, the first call counts the lines before the part.
  std::uint64_t line_number() const;
  // Where that line begins in the decompressed file, in bytes.
  std::uint64_t line_offset() const { return line_offset_; }

  // Throws FileError with the place of a field, which must be a part of the line that next gave last.
  [[noreturn]] void fail(std::string_view problem, std::string_view field) const;
  // From 1.
  std::uint64_t column_of(std::string_view field) const;

  // For error texts.
  const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t kBufferBytes = 2 * kMaxLineBytes;
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  // Goes to the first line that begins in the part.
  void begin_byte_range();
  // The next line of the input, of whatever part.
  bool read_line(std::string_view& line);
  // Keeps the bytes that begin an unfinished line and reads a block behind them. False when the file has no
  // more.
  bool refill();
  bool is_in_part() const;

  std::string path_;
  FilePart part_;
  std::optional<InputStream> input_;  // none: this part has no lines
  std::unique_ptr<char[]> buffer_;    // kBufferBytes; memory is taken as it fills
  std::size_t begin_ = 0;             // the bytes of buffer_ not yet given out are [begin_, end_)
  std::size_t end_ = 0;
  bool at_end_ = false;
  bool by_blocks_ = false;
  std::string_view line_;               // given last, without its end
  std::uint64_t line_offset_ = 0;       // of line_
  std::uint64_t next_offset_ = 0;       // of begin_
  std::uint64_t range_begin_ = 0;       // of the first line that this reader has met
  std::uint64_t range_end_ = kNoLimit;  // lines that begin here or later are of other parts
  std::uint64_t lines_met_ = 0;
  mutable std::optional<std::uint64_t> lines_before_;  // range_begin_; none: not counted yet
};

}  // namespace lapse::io

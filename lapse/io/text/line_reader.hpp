// Reads a text file line by line, whole or in parts.
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

// Reads a file, plain or compressed, a pipe, standard input (the path "-") or a source. Reads in blocks, so
// memory stays constant, pipes work, and a file that shrinks meanwhile causes no fault signal (as a memory
// map would). Skips a byte order mark at the start. The readers of all parts together return every line of
// the file exactly once, if the file does not change meanwhile; PartScheme defines the parts. Used by one
// thread.
class LAPSE_EXPORT LineReader {
 public:
  // Longer lines suggest a binary file.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
  // PartScheme::line_blocks: the number of consecutive lines that belong to one part.
  static constexpr std::uint64_t kLinesPerBlock = 64;

  // Throws FileError if the file is missing, unreadable, a directory or of an unknown compression, and
  // UsageError unless part.index < part.count, and for a part of a source, which is read whole.
  explicit LineReader(const Input& input, FilePart part = {});

  // Sets `line` to the part's next line without its end ("\n" or "\r\n"; the last line needs none), valid
  // until the next call; returns false at the end. Throws FileError, with the line, for a failing read,
  // damaged or cut-off compressed data, a line above kMaxLineBytes and, with the column, a NUL byte; the
  // lines before the damage are returned first.
  bool next(std::string_view& line);

  // Number of the line that next returned last, in the whole file, from 1. For parts that begin within a
  // plain file, the first call counts the lines before the part.
  std::uint64_t line_number() const;
  // Byte offset of that line in the decompressed file.
  std::uint64_t line_offset() const { return line_offset_; }

  // Throws FileError with the position of a field, which must be a part of the line that next returned last.
  [[noreturn]] void fail(std::string_view problem, std::string_view field) const;
  // From 1.
  std::uint64_t column_of(std::string_view field) const;

  // For error messages.
  const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t kBufferBytes = 2 * kMaxLineBytes;
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  // Moves to the first line that begins in the part.
  void begin_byte_range();
  // The next line of the input, of any part.
  bool read_line(std::string_view& line);
  // Keeps the start of an unfinished line and reads a block after it. False at the end of the file.
  bool refill();
  bool is_in_part() const;

  std::string path_;
  FilePart part_;
  std::optional<InputStream> input_;  // nullopt: this part has no lines
  std::unique_ptr<char[]> buffer_;    // kBufferBytes; memory is taken as it fills
  std::size_t begin_ = 0;             // [begin_, end_) are the bytes of buffer_ not yet returned
  std::size_t end_ = 0;
  bool at_end_ = false;
  bool by_blocks_ = false;
  std::string_view line_;               // returned last, without its end
  std::uint64_t line_offset_ = 0;       // of line_
  std::uint64_t next_offset_ = 0;       // of begin_
  std::uint64_t range_begin_ = 0;       // of the first line that this reader has read
  std::uint64_t range_end_ = kNoLimit;  // lines that begin here or later belong to other parts
  std::uint64_t lines_met_ = 0;
  mutable std::optional<std::uint64_t> lines_before_;  // range_begin_; nullopt: not counted yet
};

}  // namespace lapse::io

#include "lapse/io/text/line_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "lapse/core/byte_order_mark.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

namespace {

// The begin of part `index` of `count`: size * index / count, without overflow.
std::uint64_t part_begin(std::uint64_t size, std::uint64_t index, std::uint64_t count) {
  return size / count * index + size % count * index / count;
}

}  // namespace

PartScheme part_scheme(const std::string& path) {
  if (is_stream(path)) return PartScheme::first_part;
  const InputStream input(path);
  return input.size() ? PartScheme::byte_ranges : PartScheme::line_blocks;
}

LineReader::LineReader(const Input& input, FilePart part) : path_(input_name(input.path())), part_(part) {
  if (part.index >= part.count) {
    throw UsageError(
        fmt::format("{}: part {} of {}, expected one from 0 to count - 1", path_, part.index, part.count));
  }
  if (input.has_source() && !part.is_whole()) {
    throw UsageError(fmt::format("{}: part {} of {} of what another rank reads, expected the whole", path_,
                                 part.index, part.count));
  }
  const bool stream = input.has_source() || is_stream(input.path());
  lines_before_ = 0;
  if (stream && part.index != 0) return;
  input_.emplace(input);
  buffer_ = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  if (stream || part.is_whole()) return;
  by_blocks_ = !input_->size();
  if (!by_blocks_) begin_byte_range();
}

void LineReader::begin_byte_range() {
  const std::uint64_t size = *input_->size();
  if (part_.index + 1 < part_.count) range_end_ = part_begin(size, part_.index + 1, part_.count);
  const std::uint64_t begin = part_begin(size, part_.index, part_.count);
  if (begin == 0) return;
  // The line with the byte before the range belongs to an earlier part; it may end with that byte.
  next_offset_ = range_begin_ = begin - 1;
  lines_before_.reset();
  try {
    input_->seek(next_offset_);
  } catch (const InputError& error) {
    throw FileError(path_, error.what());
  }
  for (bool found = false; !found && next_offset_ < range_end_ && (begin_ < end_ || refill());) {
    const char* const start = buffer_.get() + begin_;
    const void* const line_end = std::memchr(start, '\n', end_ - begin_);
    found = line_end != nullptr;
    const std::size_t skipped =
        found ? static_cast<std::size_t>(static_cast<const char*>(line_end) - start) + 1 : end_ - begin_;
    begin_ += skipped;
    next_offset_ += skipped;
  }
  range_begin_ = next_offset_;
}

bool LineReader::next(std::string_view& line) {
  do {
    if (!input_ || next_offset_ >= range_end_ || !read_line(line)) return false;
  } while (!is_in_part());
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_offset_ == 0) line = without_byte_order_mark(line);
  line_ = line;
  if (line_offset_ == 0 && (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF")))
    fail("text in UTF-16, expected UTF-8", line);
  const std::size_t nul = line.find('\0');
  if (nul != std::string_view::npos) fail("NUL byte, expected a text file", line.substr(nul));
  return true;
}

bool LineReader::is_in_part() const {
  return !by_blocks_ || (lines_met_ - 1) / kLinesPerBlock % part_.count == part_.index;
}

bool LineReader::read_line(std::string_view& line) {
  std::size_t searched = 0;  // bytes after begin_ without a line end
  for (;;) {
    const char* const start = buffer_.get() + begin_;
    const std::size_t available = end_ - begin_;
    const void* const found = std::memchr(start + searched, '\n', available - searched);
    std::size_t length = available;
    if (found != nullptr) {
      length = static_cast<std::size_t>(static_cast<const char*>(found) - start);
    } else if (length <= kMaxLineBytes && refill()) {
      searched = length;
      continue;
    } else if (length == 0) {
      return false;
    }
    if (length > kMaxLineBytes) {
      throw FileError(path_, fmt::format("line longer than {} bytes, expected a text file", kMaxLineBytes),
                      line_number() + 1);
    }
    const std::size_t bytes = length + (found != nullptr ? 1 : 0);
    // At the end of the input, refill has moved it.
    line = std::string_view(buffer_.get() + begin_, length);
    line_offset_ = next_offset_;
    next_offset_ += bytes;
    begin_ += bytes;
    ++lines_met_;
    return true;
  }
}

bool LineReader::refill() {
  if (at_end_) return false;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  try {
    const std::size_t count = input_->read({buffer_.get() + end_, kBufferBytes - end_});
    end_ += count;
    at_end_ = count == 0;
    return !at_end_;
  } catch (const InputError& error) {
    throw FileError(path_, error.what(), line_number() + 1);
  }
}

std::uint64_t LineReader::line_number() const {
  if (!lines_before_) {
    try {
      lines_before_ = input_->count_lines_before(range_begin_);
    } catch (const InputError& error) {
      throw FileError(path_, error.what());
    }
  }
  return *lines_before_ + lines_met_;
}

std::uint64_t LineReader::column_of(std::string_view field) const {
  const std::less<> is_before;
  if (is_before(field.data(), line_.data()) || is_before(line_.data() + line_.size(), field.data())) return 1;
  return static_cast<std::uint64_t>(field.data() - line_.data()) + 1;
}

void LineReader::fail(std::string_view problem, std::string_view field) const {
  throw FileError(path_, problem, line_number(), column_of(field));
}

}  // namespace lapse::io

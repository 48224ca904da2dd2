// The bytes of an input, decompressed if necessary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "lapse/core/export.hpp"
#include "lapse/io/compressed/compression.hpp"
#include "lapse/io/compressed/decompressor.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/files/input.hpp"

namespace lapse::io {

// Reads a file, a pipe, standard input (the path "-") or a source. The first bytes decide whether it is
// compressed, never its name. Damaged or cut-off data end with an error, never silently. Used by one thread.
class LAPSE_EXPORT InputStream {
 public:
  // Throws FileError if the file is missing, unreadable, a directory, or has an unsupported compression.
  explicit InputStream(const Input& input);

  Compression compression() const { return compression_; }

  // Reads some bytes; returns 0 only at the end. Throws InputError after returning all bytes before the
  // problem.
  std::size_t read(std::span<char> destination);

  // Bytes of a plain regular file; nullopt for others. The functions below require a size.
  std::optional<std::uint64_t> size() const;
  // read() continues from the offset. Throws InputError.
  void seek(std::uint64_t offset);
  // Number of line ends before an offset. Does not move the position of read(). Throws InputError.
  std::uint64_t count_lines_before(std::uint64_t offset) const;

 private:
  // Some bytes as they are stored; 0 at the end.
  std::size_t read_stored(std::span<char> destination) {
    return file_ ? file_->read(destination) : source_->read(destination);
  }
  // Fills raw_, which must be empty.
  void read_raw();
  std::size_t take_raw(std::span<char> destination);
  std::size_t decompress(std::span<char> destination);
  [[noreturn]] void fail(const std::string& problem) const;

  std::optional<FileDescriptor> file_;  // one of the two is set
  std::unique_ptr<ByteSource> source_;
  Compression compression_ = Compression::none;
  std::unique_ptr<Decompressor> decompressor_;
  // [raw_begin_, raw_end_) are the bytes of the file not yet returned or decompressed.
  std::unique_ptr<char[]> raw_;
  std::size_t raw_begin_ = 0;
  std::size_t raw_end_ = 0;
  bool raw_ended_ = false;        // the file has no more bytes
  std::uint64_t raw_offset_ = 0;  // of raw_begin_, in the file
  std::string problem_;           // found after bytes that were returned
};

}  // namespace lapse::io

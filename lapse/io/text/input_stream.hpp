// The bytes of an input, decompressed where need be.
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

// Reads a file, a pipe, standard input (the path "-") or what a source gives. The first bytes decide whether
// it is compressed, never its name. Data that are damaged or cut off end with an error, never early and
// silently. Used by one thread.
class LAPSE_EXPORT InputStream {
 public:
  // Throws FileError when the file is missing, unreadable, a directory, or of a compression that is not
  // supported.
  explicit InputStream(const Input& input);

  Compression compression() const { return compression_; }

  // Gives some bytes, 0 only at the end. Throws InputError after all bytes before the problem were given.
  std::size_t read(std::span<char> destination);

  // Bytes of a plain regular file; nothing for others. The functions below need a size.
  std::optional<std::uint64_t> size() const;
  // read() goes on from the offset. Throws InputError.
  void seek(std::uint64_t offset);
  // Number of line ends before an offset. Leaves the position of read() alone. Throws InputError.
  std::uint64_t count_lines_before(std::uint64_t offset) const;

 private:
  // Some bytes as they are stored, 0 at the end.
  std::size_t read_stored(std::span<char> destination) {
    return file_ ? file_->read(destination) : source_->read(destination);
  }
  // Fills the empty raw_.
  void read_raw();
  std::size_t take_raw(std::span<char> destination);
  std::size_t decompress(std::span<char> destination);
  [[noreturn]] void fail(const std::string& problem) const;

  std::optional<FileDescriptor> file_;  // one of the two
  std::unique_ptr<ByteSource> source_;
  Compression compression_ = Compression::none;
  std::unique_ptr<Decompressor> decompressor_;
  // Bytes of the file that have not been given or decompressed yet: [raw_begin_, raw_end_).
  std::unique_ptr<char[]> raw_;
  std::size_t raw_begin_ = 0;
  std::size_t raw_end_ = 0;
  bool raw_ended_ = false;        // the file has no more
  std::uint64_t raw_offset_ = 0;  // of raw_begin_, in the file
  std::string problem_;           // found behind bytes that were given
};

}  // namespace lapse::io

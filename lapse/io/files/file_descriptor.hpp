// An input of the operating system: a file, a pipe or standard input.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse::io {

// The path that stands for standard input.
inline constexpr std::string_view kStandardInput = "-";

// The name of an input in error messages.
LAPSE_EXPORT std::string input_name(const std::string& path);

// Whether a path names something that can be read only once, or only by this process: standard input, a pipe,
// a device, an open file of the process (/dev/fd/3). False if the path does not exist.
LAPSE_EXPORT bool is_stream(const std::string& path);
// The number of an open file of this process that a path names (/dev/fd/3), even if it is not open; nullopt
// for all other paths.
LAPSE_EXPORT std::optional<int> own_descriptor(const std::string& path);
// Whether two paths name the same stream, so that each reader would miss what the other gets.
LAPSE_EXPORT bool is_same_stream(const std::string& a, const std::string& b);

// Used by one thread.
class LAPSE_EXPORT FileDescriptor {
 public:
  // Opens for reading; a pipe needs no writer yet. Throws FileError if the file is missing, unreadable or a
  // directory.
  explicit FileDescriptor(const std::string& path);
  // Standard input stays open.
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  // Bytes of a regular file; nullopt for streams.
  std::optional<std::uint64_t> size() const { return size_; }

  // Whether read() would not wait; false if neither bytes nor the end arrive within `time`.
  bool wait_for_bytes(std::chrono::milliseconds time) const;
  // Reads some bytes; returns 0 only at the end. Waits for bytes: a pipe ends when its last writer closes it.
  // Throws InputError.
  std::size_t read(std::span<char> destination);
  // Regular files: reads from an offset, without moving the position of read(). Throws InputError.
  std::size_t read_at(std::uint64_t offset, std::span<char> destination) const;
  // Regular files: read() continues from there. Throws InputError.
  void seek(std::uint64_t offset);

 private:
  int descriptor_;
  std::optional<std::uint64_t> size_;
};

}  // namespace lapse::io

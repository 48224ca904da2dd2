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

// The name that stands for standard input.
inline constexpr std::string_view kStandardInput = "-";

// The name of an input in error messages.
LAPSE_EXPORT std::string input_name(const std::string& path);

// Whether a path names something that can be read once only, or by this process only: standard input, a pipe,
// a device, what the process has open (/dev/fd/3). False for what is missing.
LAPSE_EXPORT bool is_stream(const std::string& path);
// The number of an open file of this process that a path names (/dev/fd/3), whether it is open or not;
// nothing for all other paths.
LAPSE_EXPORT std::optional<int> own_descriptor(const std::string& path);
// Whether two paths name one stream, so that one reader would get what the other lacks.
LAPSE_EXPORT bool is_same_stream(const std::string& a, const std::string& b);

// Used by one thread.
class LAPSE_EXPORT FileDescriptor {
 public:
  // Opens for reading; a pipe needs no writer yet. Throws FileError when the file is missing, unreadable or a
  // directory.
  explicit FileDescriptor(const std::string& path);
  // Standard input stays open.
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  // Bytes of a regular file; nothing for streams.
  std::optional<std::uint64_t> size() const { return size_; }

  // Whether read() will not wait: false when neither bytes nor the end have come in time.
  bool wait_for_bytes(std::chrono::milliseconds time) const;
  // Reads some bytes, 0 only at the end. Waits for them: a pipe ends when its last writer closes it. Throws
  // InputError.
  std::size_t read(std::span<char> destination);
  // Regular files: reads from an offset on; the position of read() stays. Throws InputError.
  std::size_t read_at(std::uint64_t offset, std::span<char> destination) const;
  // Regular files: read() goes on from there. Throws InputError.
  void seek(std::uint64_t offset);

 private:
  int descriptor_;
  std::optional<std::uint64_t> size_;
};

}  // namespace lapse::io

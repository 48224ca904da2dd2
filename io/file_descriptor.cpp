#include "io/file_descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/input_error.hpp"

namespace lapse::io {

namespace {

int open_for_reading(const std::string& path) {
  if (path == kStandardInput) return STDIN_FILENO;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw FileError(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  return descriptor;
}

template <class Read>
std::size_t read_again_when_interrupted(const Read& read) {
  for (;;) {
    const ssize_t count = read();
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw InputError(fmt::format("cannot be read: {}", std::strerror(errno)));
  }
}

}  // namespace

std::string input_name(const std::string& path) {
  return path == kStandardInput ? "standard input" : path;
}

bool is_stream(const std::string& path) {
  if (path == kStandardInput) return true;
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

FileDescriptor::FileDescriptor(const std::string& path) : descriptor_(open_for_reading(path)) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
    throw FileError(input_name(path), "is a directory, expected a file");
  }
  if (S_ISREG(status.st_mode) && path != kStandardInput) size_ = static_cast<std::uint64_t>(status.st_size);
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::size_t FileDescriptor::read(std::span<char> destination) {
  return read_again_when_interrupted(
      [&] { return ::read(descriptor_, destination.data(), destination.size()); });
}

std::size_t FileDescriptor::read_at(std::uint64_t offset, std::span<char> destination) const {
  return read_again_when_interrupted([&] {
    return ::pread(descriptor_, destination.data(), destination.size(), static_cast<off_t>(offset));
  });
}

void FileDescriptor::seek(std::uint64_t offset) {
  if (::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    throw InputError(fmt::format("cannot be read from byte {} on: {}", offset, std::strerror(errno)));
  }
}

}  // namespace lapse::io

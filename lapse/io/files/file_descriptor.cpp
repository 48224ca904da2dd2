#include "lapse/io/files/file_descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

namespace {

constexpr std::string_view kOwnStandardInput = "/dev/stdin";

// Whether the path names something different, or nothing, in every other process.
bool is_own_descriptor(const std::string& path) {
  return path == kOwnStandardInput || own_descriptor(path);
}

int open_for_reading(const std::string& path) {
  if (path == kStandardInput) return STDIN_FILENO;
  // Without O_NONBLOCK, open would wait until a pipe has a writer; read waits for bytes itself.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) return descriptor;
  throw FileError(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  const int result = path == kStandardInput ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  return result == 0 ? std::optional(status) : std::nullopt;
}

[[noreturn]] void fail_to_read() {
  throw InputError(fmt::format("cannot be read: {}", std::strerror(errno)));
}

// Waits until reading would not block; -1: indefinitely.
bool wait_to_read(int descriptor, int milliseconds) {
  pollfd request{.fd = descriptor, .events = POLLIN, .revents = 0};
  for (;;) {
    const int ready = ::poll(&request, 1, milliseconds);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) fail_to_read();
  }
}

template <class Read>
std::size_t read_again_when_interrupted(int descriptor, const Read& read) {
  for (;;) {
    const ssize_t count = read();
    if (count >= 0) return static_cast<std::size_t>(count);
    // Another process may have set standard input to O_NONBLOCK, or have read the bytes.
    if (errno == EAGAIN) {
      wait_to_read(descriptor, -1);
    } else if (errno != EINTR) {
      fail_to_read();
    }
  }
}

}  // namespace

std::string input_name(const std::string& path) {
  return path == kStandardInput ? "standard input" : path;
}

bool is_stream(const std::string& path) {
  if (path == kStandardInput) return true;
  const auto status = status_of(path);
  if (!status || S_ISDIR(status->st_mode)) return false;
  return !S_ISREG(status->st_mode) || is_own_descriptor(path);
}

std::optional<int> own_descriptor(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return std::nullopt;
  int number = 0;
  const char* const end = path.data() + path.size();
  const auto result = std::from_chars(path.data() + slash + 1, end, number);
  if (result.ec != std::errc{} || result.ptr != end || number < 0) return std::nullopt;
  // The folder has several names, /dev/fd among them.
  std::error_code error;
  const bool is_own = std::filesystem::equivalent(path.substr(0, slash + 1), "/proc/self/fd", error);
  return is_own && !error ? std::optional(number) : std::nullopt;
}

bool is_same_stream(const std::string& a, const std::string& b) {
  if (!is_stream(a) || !is_stream(b)) return false;
  if (a == kStandardInput && b == kStandardInput) return true;
  const auto first = status_of(a);
  const auto second = status_of(b);
  // Terminals and other devices may have bytes for every reader.
  const auto is_pipe = [](const struct stat& status) {
    return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
  };
  return first && second && is_pipe(*first) && first->st_dev == second->st_dev &&
         first->st_ino == second->st_ino;
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

bool FileDescriptor::wait_for_bytes(std::chrono::milliseconds time) const {
  return wait_to_read(descriptor_, static_cast<int>(time.count()));
}

std::size_t FileDescriptor::read(std::span<char> destination) {
  // A pipe that has never had a writer reads as if it had ended.
  if (!size_) wait_to_read(descriptor_, -1);
  return read_again_when_interrupted(
      descriptor_, [&] { return ::read(descriptor_, destination.data(), destination.size()); });
}

std::size_t FileDescriptor::read_at(std::uint64_t offset, std::span<char> destination) const {
  return read_again_when_interrupted(descriptor_, [&] {
    return ::pread(descriptor_, destination.data(), destination.size(), static_cast<off_t>(offset));
  });
}

void FileDescriptor::seek(std::uint64_t offset) {
  if (::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    throw InputError(fmt::format("cannot be read from byte {} on: {}", offset, std::strerror(errno)));
  }
}

}  // namespace lapse::io

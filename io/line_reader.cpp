#include "io/line_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

int open_for_reading(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw FileError(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    throw FileError(path, "is a directory, expected a text file");
  }
  return descriptor;
}

}  // namespace

LineReader::LineReader(std::string path)
    : path_(std::move(path)), buffer_(kMaxLineBytes + kBlockBytes), descriptor_(open_for_reading(path_)) {}

LineReader::~LineReader() {
  ::close(descriptor_);
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;  // bytes behind begin_ that hold no line end
  for (;;) {
    const char* const start = buffer_.data() + begin_;
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
                      line_number_ + 1);
    }
    line = std::string_view(start, length);
    begin_ += length + (found != nullptr ? 1 : 0);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (++line_number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    return true;
  }
}

bool LineReader::refill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  for (;;) {
    const ssize_t count = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (count > 0) {
      end_ += static_cast<std::size_t>(count);
      return true;
    }
    if (count == 0) {
      at_end_ = true;
      return false;
    }
    if (errno != EINTR)
      throw FileError(path_, fmt::format("cannot be read: {}", std::strerror(errno)), line_number_ + 1);
  }
}

}  // namespace lapse::io

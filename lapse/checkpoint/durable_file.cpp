#include "lapse/checkpoint/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse {

namespace {

using Reason = CheckpointError::Reason;

// Some systems write or read at most 2 GiB at once.
constexpr std::size_t kMaxBytesAtOnce = std::size_t{1} << 30;
constexpr std::size_t kMaxPiecesAtOnce = 512;
constexpr std::uint64_t kBytesToSync = std::uint64_t{8} << 20;

[[noreturn]] void refuse_write(const std::string& path, std::string_view action, int number) {
  throw system_error(Reason::not_writable, path, action, number);
}

}  // namespace

// --- writing

DurableFile::DurableFile(std::string path)
    : path_(std::move(path)),
      whole_(true),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) refuse_write(path_, "cannot be created", errno);
}

DurableFile::DurableFile(std::string path, std::uint64_t offset)
    : path_(std::move(path)),
      whole_(false),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)),
      begin_(offset) {
  if (descriptor_ < 0) refuse_write(path_, "cannot be created", errno);
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DurableFile::reserve(std::uint64_t bytes) {
  if (bytes == 0) return;
  // Beyond this limit, a signal would end the process.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      begin_ + bytes > limit.rlim_cur)
    refuse_write(path_, fmt::format("{} bytes cannot be reserved", bytes), EFBIG);
  int number = EINTR;
  while (number == EINTR) {
    const int result = ::fallocate(descriptor_, 0, static_cast<off_t>(begin_), static_cast<off_t>(bytes));
    number = result == 0 ? 0 : errno;
  }
  // Without fallocate, reserves nothing: posix_fallocate would write to every block, and fail if another rank
  // has written after it.
  if (number == EOPNOTSUPP || number == ENOSYS) return;
  if (number != 0) refuse_write(path_, fmt::format("{} bytes cannot be reserved", bytes), number);
  reserved_ = bytes;
}

void DurableFile::write(std::span<const std::byte> bytes) {
  write(Pieces(&bytes, 1));
}

void DurableFile::write(Pieces pieces) {
  std::vector<iovec> left;
  for (const std::span<const std::byte> piece : pieces) {
    for (std::size_t at = 0; at < piece.size(); at += kMaxBytesAtOnce)
      left.push_back(
          {const_cast<std::byte*>(piece.data() + at), std::min(piece.size() - at, kMaxBytesAtOnce)});
  }
  for (std::size_t i = 0; i < left.size();) {
    std::size_t bytes = left[i].iov_len;
    std::size_t end = i + 1;
    while (end < left.size() && end < i + kMaxPiecesAtOnce && bytes + left[end].iov_len <= kMaxBytesAtOnce)
      bytes += left[end++].iov_len;
    const ssize_t result =
        ::pwritev(descriptor_, &left[i], static_cast<int>(end - i), static_cast<off_t>(position_));
    if (result < 0) {
      if (errno == EINTR) continue;
      refuse_write(path_, "cannot be written", errno);
    }
    position_ += static_cast<std::uint64_t>(result);
    for (auto done = static_cast<std::size_t>(result); done != 0;) {
      iovec& first = left[i];
      const std::size_t of_first = std::min(done, first.iov_len);
      first = {static_cast<std::byte*>(first.iov_base) + of_first, first.iov_len - of_first};
      done -= of_first;
      if (first.iov_len == 0) ++i;
    }
  }
  begin_to_sync();
}

void DurableFile::begin_to_sync() {
  // The disk writes in the background. If it cannot be asked to, finish() does all.
  if (position_ - syncing_ < kBytesToSync) return;
  ::sync_file_range(descriptor_, static_cast<off64_t>(syncing_), static_cast<off64_t>(position_ - syncing_),
                    SYNC_FILE_RANGE_WRITE);
  syncing_ = position_;
}

void DurableFile::align(std::uint64_t bytes) {
  position_ = (position_ + bytes - 1) / bytes * bytes;
}

void DurableFile::finish() {
  if (whole_ && reserved_ > written() && ::ftruncate(descriptor_, static_cast<off_t>(written())) != 0)
    refuse_write(path_, "cannot be shortened", errno);
  if (::fsync(descriptor_) != 0) refuse_write(path_, "cannot be synced", errno);
  // EINTR is no failure: everything is on the disk, and Linux closes the file.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    refuse_write(path_, "cannot be closed", errno);
}

// --- reading

ReadableFile::ReadableFile(std::string path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw system_error(Reason::not_readable, path_, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw CheckpointError(Reason::not_readable, path_, "is not a file");
  }
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

ReadableFile::~ReadableFile() {
  ::close(descriptor_);
}

void ReadableFile::read(std::uint64_t offset, std::span<std::byte> destination) const {
  while (!destination.empty()) {
    const ssize_t count = ::pread(descriptor_, destination.data(),
                                  std::min(destination.size(), kMaxBytesAtOnce), static_cast<off_t>(offset));
    if (count < 0) {
      if (errno == EINTR) continue;
      throw system_error(Reason::not_readable, path_, "cannot be read", errno);
    }
    if (count == 0) {
      throw CheckpointError(
          Reason::truncated, path_,
          fmt::format("ends at byte {}, {} bytes are missing there", offset, destination.size()));
    }
    offset += static_cast<std::uint64_t>(count);
    destination = destination.subspan(static_cast<std::size_t>(count));
  }
}

std::vector<std::byte> ReadableFile::read(std::uint64_t offset, std::uint64_t bytes) const {
  // Checked before memory is allocated.
  if (offset > bytes_ || bytes > bytes_ - offset) {
    throw CheckpointError(Reason::truncated, path_,
                          fmt::format("has {} bytes, expected {} from byte {} on", bytes_, bytes, offset));
  }
  std::vector<std::byte> content(bytes);
  read(offset, content);
  return content;
}

// --- folders

std::vector<std::string> folder_entries(const std::string& path, std::error_code& error) {
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) names.clear();
  return names;
}

void sync_folder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) refuse_write(path, "cannot be opened", errno);
  const int result = ::fsync(descriptor);
  const int number = errno;
  ::close(descriptor);
  // Some file systems cannot sync folders.
  if (result != 0 && number != EINVAL) refuse_write(path, "cannot be synced", number);
}

void make_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).lexically_normal();
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  if (folder.has_relative_path() && folder.parent_path() != folder)
    make_folder(folder.parent_path().string());
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) refuse_write(path, "cannot be made", errno);
  if (!std::filesystem::is_directory(folder, error))
    throw CheckpointError(Reason::not_writable, path, "is a file, expected a folder");
  sync_folder(folder.parent_path().string());
}

}  // namespace lapse

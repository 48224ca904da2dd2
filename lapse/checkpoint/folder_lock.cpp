#include "lapse/checkpoint/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"

namespace lapse {

namespace {

constexpr std::size_t kNumberDigits = 16;

// Returns the number in the digits at the beginning of the file.
std::optional<std::uint64_t> number_in(int descriptor) {
  std::array<char, kNumberDigits> digits{};
  if (::pread(descriptor, digits.data(), digits.size(), 0) != static_cast<ssize_t>(digits.size()))
    return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, number, 16);
  if (result.ec != std::errc{} || result.ptr != end || number == 0) return std::nullopt;
  return number;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder) : folder_(folder), file_(folder + "/lock") {
  take();
}

bool FolderLock::is_in_place() const {
  struct stat held {};
  struct stat there {};
  return descriptor_ >= 0 && ::fstat(descriptor_, &held) == 0 && held.st_nlink != 0 &&
         ::stat(file_.c_str(), &there) == 0 && held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

void FolderLock::renew() {
  release();
  take();
}

void FolderLock::release() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void FolderLock::take() {
  using Reason = CheckpointError::Reason;
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw system_error(Reason::not_writable, file_, "cannot be created", errno);
  try {
    const int number = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (number == EWOULDBLOCK) {
      throw CheckpointError(Reason::locked, folder_,
                            "another job writes checkpoints to this folder, or it is the local folder of "
                            "several hosts: end that "
                            "job, or give this one a folder of its own");
    }
    if (number == ENOSYS || number == ENOLCK || number == EOPNOTSUPP) {
      warning_ = fmt::format(
          "{} cannot be locked ({}): make sure that no other job writes checkpoints to this folder, or mount "
          "its file system with locks (Lustre: -o flock)",
          file_, std::strerror(number));
    } else if (number != 0) {
      throw system_error(Reason::not_writable, file_, "cannot be locked", number);
    }
    read_or_write_number();
  } catch (...) {
    release();
    throw;
  }
}

void FolderLock::read_or_write_number() {
  if (const auto number = number_in(descriptor_)) {
    number_ = *number;
    return;
  }
  if (number_ == 0) number_ = new_checkpoint_number();
  const std::string text = fmt::format("{:016x}\n", number_);
  const bool written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::fsync(descriptor_) == 0;
  if (!written) throw system_error(CheckpointError::Reason::not_writable, file_, "cannot be written", errno);
}

FolderLock::~FolderLock() {
  release();
}

std::optional<std::uint64_t> folder_number(const std::string& folder) noexcept {
  const int descriptor = ::open((folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  const auto number = number_in(descriptor);
  ::close(descriptor);
  return number;
}

}  // namespace lapse

// Keeps two jobs from writing checkpoints to one folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lapse/core/process/fork_hook.hpp"

namespace lapse {

// Held as long as the object lives, and no longer than the process; children that fork makes do not have it.
// The file `lock` in the folder, whose lock this is, has the folder's number, 16 hexadecimal digits: it stays
// when the folder is moved. Used by one thread.
class FolderLock {
 public:
  // Takes the lock, and gives the folder a number if it has none: this one, or without it a new one. Throws
  // CheckpointError with reason locked where another object, of this process or of another, has it.
  explicit FolderLock(const std::string& folder, std::uint64_t number = 0);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Whether the folder still has the file whose lock this is: false after the folder was removed or moved.
  bool is_in_place() const;
  // Takes the lock of the file that the folder has now; one without a number gets that of this object. Throws
  // as the constructor does; then the object holds no lock, is not in place, and keeps its number.
  void renew();

  std::uint64_t number() const { return number_; }
  // Where the file system has no locks, so that nothing keeps other jobs away: a message for the user.
  const std::string& warning() const { return warning_; }

 private:
  void take();
  void release();
  void read_or_write_number();

  std::string folder_;
  std::string file_;
  int descriptor_ = -1;
  std::uint64_t number_ = 0;
  std::string warning_;
  // A child that outlives the job would keep the lock.
  const ForkHook fork_hook_{[](void* lock) noexcept { static_cast<FolderLock*>(lock)->release(); }, this};
};

// The number of the folder; nothing where it has none, or it cannot be read.
std::optional<std::uint64_t> folder_number(const std::string& folder) noexcept;

}  // namespace lapse

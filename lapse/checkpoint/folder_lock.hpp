// Keeps two jobs from writing checkpoints to one folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lapse/core/process/fork_hook.hpp"

namespace lapse {

// Held as long as the object lives, at most until the process ends; children that fork makes do not hold it.
// The lock is that of the file `lock` in the folder. The file contains the folder's number, 16 hexadecimal
// digits, which stays when the folder is moved. Used by one thread.
class FolderLock {
 public:
  // Takes the lock. If the folder has no number, gives it a new one. Throws CheckpointError with reason
  // locked if another object, of this or another process, holds the lock.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Returns true if the folder still contains the locked file; false after the folder was removed or moved.
  bool is_in_place() const;
  // Takes the lock of the folder's current file; if that has no number, writes this object's. Throws what the
  // constructor throws; then the object holds no lock, is not in place, and keeps its number.
  void renew();

  std::uint64_t number() const { return number_; }
  // If the file system has no locks, so that nothing keeps other jobs away: a message for the user.
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
  // Releases the lock in children: one that outlives the job would keep it.
  const ForkHook fork_hook_{[](void* lock) noexcept { static_cast<FolderLock*>(lock)->release(); }, this};
};

// Returns the number of the folder; nullopt if it has none or cannot be read.
std::optional<std::uint64_t> folder_number(const std::string& folder) noexcept;

}  // namespace lapse

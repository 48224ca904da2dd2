// Keeps two jobs from writing checkpoints to one folder.
#pragma once

#include <string>

namespace lapse {

// Held as long as the object lives, and no longer than the process. Used by one thread.
class FolderLock {
 public:
  // Takes the lock, which is that of the file `lock` in the folder. Throws CheckpointError with reason locked
  // where another object, of this process or of another, has it.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace lapse

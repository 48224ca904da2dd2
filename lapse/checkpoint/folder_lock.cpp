#include "lapse/checkpoint/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse {

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  using Reason = CheckpointError::Reason;
  if (descriptor_ < 0) throw system_error(Reason::not_writable, folder + "/lock", "cannot be created", errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int number = errno;
  ::close(descriptor_);
  if (number == EWOULDBLOCK) {
    throw CheckpointError(Reason::locked, folder,
                          "another job writes checkpoints to this folder: end it, or give this job a folder "
                          "of its own");
  }
  throw system_error(Reason::not_writable, folder + "/lock", "cannot be locked", number);
}

FolderLock::~FolderLock() {
  ::close(descriptor_);
}

}  // namespace lapse

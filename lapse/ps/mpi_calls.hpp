// Calls of MPI by the application while workers run.
#pragma once

#include <utility>

#include "lapse/core/export.hpp"

namespace lapse {

class MpiLock;

// While it lives, no thread of a server of this process is inside MPI. The thread that has it makes calls
// that do not wait for other ranks, such as MPI_Isend and MPI_Test, and calls no server: UsageError, but for
// calls of workers, which are not looked at.
class LAPSE_EXPORT MpiCalls {
 public:
  // Null: the server uses no MPI, and nothing is held.
  explicit MpiCalls(MpiLock* lock);
  MpiCalls(MpiCalls&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
  MpiCalls& operator=(MpiCalls&&) = delete;
  ~MpiCalls();
  // Whether this thread has one.
  static bool held_here();

 private:
  MpiLock* lock_;
};

}  // namespace lapse

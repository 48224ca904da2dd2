// Calls of MPI by the application while workers run.
#pragma once

#include <utility>

#include "lapse/core/export.hpp"

namespace lapse {

class MpiLock;

// While this object lives, no thread of a server of this process is inside MPI. The thread that has it may
// make calls that do not wait for other ranks, such as MPI_Isend and MPI_Test. It must not call a server:
// that throws UsageError, except that calls of workers are not checked.
class LAPSE_EXPORT MpiCalls {
 public:
  // If null, the server uses no MPI, and nothing is held.
  explicit MpiCalls(MpiLock* lock);
  MpiCalls(MpiCalls&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
  MpiCalls& operator=(MpiCalls&&) = delete;
  ~MpiCalls();
  // Returns true if this thread has one.
  static bool held_here();

 private:
  MpiLock* lock_;
};

}  // namespace lapse

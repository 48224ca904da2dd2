// Calls of MPI by the application while workers run.
#pragma once

#include <memory>

namespace lapse {

class MpiLock;

// While it lives, no thread of a server of this process is inside MPI. The thread that has it makes calls
// that do not wait for other ranks, such as MPI_Isend and MPI_Test, and calls no server.
class [[nodiscard]] MpiCalls {
 public:
  // Null: the server uses no MPI, and nothing is held.
  explicit MpiCalls(std::shared_ptr<MpiLock> lock);
  MpiCalls(MpiCalls&&) noexcept = default;
  MpiCalls& operator=(MpiCalls&&) = delete;
  ~MpiCalls();

 private:
  std::shared_ptr<MpiLock> lock_;
};

}  // namespace lapse

#include "lapse/transport/mpi/receive_ring.hpp"

#include <new>

#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/wire.hpp"

namespace lapse {

namespace {
constexpr std::size_t kBufferAlignment = 64;

// An odd number of cache lines: with strides of a power of two, equal offsets in all buffers would map to few
// lines of the cache.
std::size_t stride(std::size_t bytes) {
  return ((bytes + kBufferAlignment - 1) / kBufferAlignment | 1U) * kBufferAlignment;
}
}  // namespace

MpiReceiveRing::MpiReceiveRing(MPI_Comm communicator, std::size_t buffers, std::size_t bytes)
    : communicator_(communicator),
      buffer_bytes_(bytes),
      stride_bytes_(stride(buffer_bytes_)),
      memory_(static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, buffers * stride_bytes_))),
      requests_(buffers, MPI_REQUEST_NULL) {
  if (!memory_) throw std::bad_alloc();
  for (std::size_t index = 0; index < requests_.size(); ++index) post(index);
}

void MpiReceiveRing::post(std::size_t index) {
  check_mpi(MPI_Irecv(buffer(index), static_cast<int>(buffer_bytes_), MPI_BYTE, MPI_ANY_SOURCE,
                      mpi_wire::kEagerTag, communicator_, &requests_[index]),
            "MPI_Irecv");
}

bool MpiReceiveRing::test(Message& message) {
  if (taken_) {
    post(*taken_);
    taken_.reset();
  }
  int arrived = 0;
  MPI_Status status;
  check_mpi(MPI_Test(&requests_[head_], &arrived, &status), "MPI_Test");
  if (!arrived) return false;
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  taken_ = head_;
  head_ = head_ + 1 == requests_.size() ? 0 : head_ + 1;
  message.from = Rank{status.MPI_SOURCE};
  message.bytes = {buffer(*taken_), static_cast<std::size_t>(bytes)};
  return true;
}

std::size_t MpiReceiveRing::cancel() {
  std::size_t arrived = 0;
  bool memory_in_use = false;
  for (MPI_Request& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    check_mpi(MPI_Cancel(&request), "MPI_Cancel");
    int done = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&request, &done, &status), "MPI_Test");
    int cancelled = 0;
    if (done) {
      check_mpi(MPI_Test_cancelled(&status, &cancelled), "MPI_Test_cancelled");
    } else {
      // Matched by a message that is still arriving, whose sender may never help again. MPI keeps the memory.
      check_mpi(MPI_Request_free(&request), "MPI_Request_free");
      memory_in_use = true;
    }
    if (!cancelled) ++arrived;
  }
  requests_.clear();
  if (memory_in_use) static_cast<void>(memory_.release());
  memory_.reset();
  return arrived;
}

}  // namespace lapse

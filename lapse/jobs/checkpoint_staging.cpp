#include "lapse/jobs/checkpoint_staging.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/available_memory.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse {

void CheckpointStaging::begin(std::size_t bytes) {
  taken_ = 0;
  if (bytes <= bytes_) return;
  release();
  const std::size_t rounded = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const AvailableMemory available = available_memory(sharers_);
  const auto refuse = [&] {
    throw OutOfMemory(fmt::format("{}: no memory for a copy of {} bytes to be saved: {}", owner_label_, bytes,
                                  available.to_text()));
  };
  if (rounded > available.bytes) refuse();
  void* const memory =
      ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) refuse();
  ::madvise(memory, rounded, MADV_HUGEPAGE);  // If refused, pages are small.
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = rounded;
}

std::byte* CheckpointStaging::take(std::size_t bytes) {
  std::byte* const taken = memory_ + taken_;
  taken_ += bytes;
  if (taken_ > bytes_) {
    throw ProtocolError(
        fmt::format("{}: a copy takes {} bytes, expected at most {}", owner_label_, taken_, bytes_));
  }
  return taken;
}

void CheckpointStaging::release() noexcept {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
  memory_ = nullptr;
  bytes_ = 0;
  taken_ = 0;
}

}  // namespace lapse

// Memory that is left free by what a rank can do without.
#pragma once

#include <cstdint>

#include "lapse/store/memory_budget.hpp"

namespace lapse {

// Whether more memory may be taken for something that can be declined, such as a copy of a value: not while
// the machine (or what the process may use of it) has less than MemoryBudget::kReserveBytes left. What cannot
// be declined, such as a message, finds memory then.
//
// Thread safety: one thread at a time.
class MemoryReserve {
 public:
  // `committed_bytes`: what has been taken for it so far.
  explicit MemoryReserve(std::uint64_t committed_bytes) : checked_bytes_(committed_bytes) {}

  // `committed_bytes`: as above, now. Asks the system each time that it has grown by kCheckBytes. Where too
  // little was left it allows nothing, and asks again once in kRefusalsPerCheck calls.
  bool allows(std::uint64_t committed_bytes) {
    if (committed_bytes < checked_bytes_ + kCheckBytes) [[likely]]
      return true;
    return check(committed_bytes);
  }

 private:
  static constexpr std::uint64_t kCheckBytes = MemoryBudget::kReserveBytes / 16;
  static constexpr std::uint64_t kRefusalsPerCheck = 1024;

  bool check(std::uint64_t committed_bytes);

  std::uint64_t checked_bytes_;
  std::uint64_t refused_ = 0;  // since the system was asked
};

}  // namespace lapse

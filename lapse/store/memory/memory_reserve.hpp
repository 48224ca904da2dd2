// Keeps memory free by declining optional uses.
#pragma once

#include <cstdint>

#include "lapse/store/memory/memory_budget.hpp"

namespace lapse {

// Decides whether more memory may be taken for something optional, such as a replica: not while the machine
// (or the part that the process may use) has less than MemoryBudget::kReserveBytes left, so that mandatory
// uses, such as messages, find memory. The tables of a rank share one MemoryReserve: many tables that grow a
// little leave as much as one that grows much.
//
// Thread safety: one thread at a time.
class MemoryReserve {
 public:
  static constexpr std::uint64_t kCheckBytes = MemoryBudget::kReserveBytes / 16;

  // `grown_bytes`: what the caller has taken since its last call. Asks the system whenever all callers
  // together have taken kCheckBytes. If too little was left, allows nothing and asks again every
  // kRefusalsPerCheck calls.
  bool allows(std::uint64_t grown_bytes) {
    unchecked_bytes_ += grown_bytes;
    if (unchecked_bytes_ < kCheckBytes) [[likely]]
      return true;
    return check();
  }
  // Bytes taken since the system was last asked successfully.
  std::uint64_t unchecked_bytes() const { return unchecked_bytes_; }

 private:
  static constexpr std::uint64_t kRefusalsPerCheck = 1024;

  bool check();

  std::uint64_t unchecked_bytes_ = 0;
  std::uint64_t refused_ = 0;  // since the system was asked
};

}  // namespace lapse

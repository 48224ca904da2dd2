// Memory that is left free by what a rank can do without.
#pragma once

#include <cstdint>

#include "lapse/store/memory/memory_budget.hpp"

namespace lapse {

// Whether more memory may be taken for something that can be declined, such as a copy of a value: not while
// the machine (or what the process may use of it) has less than MemoryBudget::kReserveBytes left. What cannot
// be declined, such as a message, finds memory then. The tables of a rank share one: many tables that grow a
// little leave as much as one that grows much.
//
// Thread safety: one thread at a time.
class MemoryReserve {
 public:
  static constexpr std::uint64_t kCheckBytes = MemoryBudget::kReserveBytes / 16;

  // `grown_bytes`: what the caller has taken for it since its last call. Asks the system each time that all
  // callers together have taken kCheckBytes. Where too little was left it allows nothing, and asks again once
  // in kRefusalsPerCheck calls.
  bool allows(std::uint64_t grown_bytes) {
    unchecked_bytes_ += grown_bytes;
    if (unchecked_bytes_ < kCheckBytes) [[likely]]
      return true;
    return check();
  }
  // Taken since the system was asked with success.
  std::uint64_t unchecked_bytes() const { return unchecked_bytes_; }

 private:
  static constexpr std::uint64_t kRefusalsPerCheck = 1024;

  bool check();

  std::uint64_t unchecked_bytes_ = 0;
  std::uint64_t refused_ = 0;  // since the system was asked
};

}  // namespace lapse

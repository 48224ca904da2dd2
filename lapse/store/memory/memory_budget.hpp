// A bound on the memory of growing structures.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lapse/store/memory/region.hpp"

namespace lapse {

// Bytes that budgets have committed since one of them last read the available memory. A server's budgets
// share it: many small tables take as much as a large one.
struct UncheckedMemory {
  std::uint64_t bytes = 0;
};

// Provides regions that together commit at most `limit_bytes`, and nothing while the machine (or the part
// that the process may use) has less than about kReserveBytes left: commit throws OutOfMemory with the
// reason, long before the machine swaps or the kernel kills the process.
//
// Thread safety: like the regions of `inner`; one thread at a time uses the regions of budgets that share an
// UncheckedMemory.
class MemoryBudget : public RegionAllocator {
 public:
  static constexpr std::uint64_t kReserveBytes = std::uint64_t{128} << 20;

  // `owner_label` begins error messages: "table 'x' on rank 3".
  MemoryBudget(RegionAllocator& inner, std::string owner_label, std::optional<std::uint64_t> limit_bytes,
               std::shared_ptr<UncheckedMemory> unchecked = std::make_shared<UncheckedMemory>());

  std::unique_ptr<Region> reserve(std::size_t bytes) override;
  std::string whose() const override;

 private:
  class Account;

  RegionAllocator& inner_;
  std::shared_ptr<Account> account_;  // shared with the regions, which may outlive this object
};

}  // namespace lapse

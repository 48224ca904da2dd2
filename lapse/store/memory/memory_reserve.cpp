#include "lapse/store/memory/memory_reserve.hpp"

#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

bool MemoryReserve::check() {
  if (refused_ > 0 && refused_ < kRefusalsPerCheck) {
    ++refused_;
    return false;
  }
  if (available_memory().bytes < MemoryBudget::kReserveBytes) {
    refused_ = 1;
    return false;
  }
  refused_ = 0;
  unchecked_bytes_ = 0;
  return true;
}

}  // namespace lapse

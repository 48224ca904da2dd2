#include "lapse/ps/worker_group.hpp"

#include <exception>

#include "lapse/ps/reduction.hpp"

namespace lapse {

std::uint64_t WorkerGroup::contribute(std::size_t local_index, Bytes bytes) {
  // No worker of this rank can complete the round before this worker has arrived.
  const std::uint64_t round = collective_.completed_rounds() + 1;
  contributions_[local_index] = std::move(bytes);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == contributions_.size()) {
    arrived_.store(0, std::memory_order_relaxed);
    combined_.bytes = std::move(contributions_[0]);
    try {
      for (std::size_t i = 1; i < contributions_.size(); ++i) {
        combine_contributions(combined_.bytes, contributions_[i]);
      }
    } catch (...) {
      mismatch_.failure = std::current_exception();
      mismatch_.handler = &protocol_.failures();
      engine_.submit(mismatch_);
      throw;
    }
    combined_.handler = &collective_;
    engine_.submit(combined_);
  }
  return round;
}

}  // namespace lapse

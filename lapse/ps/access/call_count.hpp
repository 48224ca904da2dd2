// Counts a call that is not inlined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/ps/access/local_access.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

// Counts one call of pull, push, set or call (RAII). Records one of its keys when a read of a replica is due
// to be sampled.
//
// Thread safety: the worker's thread.
class CallCount {
 public:
  CallCount(WorkerCore& core, TableCounters& counters, TableShard& table, std::span<const Key> keys,
            bool pull)
      : core_(core),
        counters_(counters),
        table_(table),
        keys_(keys),
        pull_(pull),
        local_(local()),
        copies_(counters.copy_pulls) {}
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;
  ~CallCount() {
    if (keys_.empty()) return;
    ++counters_.operations;
    core_.endpoint().keys_of_operations()[table_.id().index()] += local() - local_;
    if (counters_.copy_pulls / Worker::kReadsPerSample != copies_ / Worker::kReadsPerSample) [[unlikely]]
      sample_read();
  }

  // Counters for accesses without the engine.
  LocalAccess::Counts keys() const {
    return {pull_ ? counters_.local_pulls : counters_.local_pushes,
            pull_ ? counters_.copy_pulls : counters_.copy_pushes};
  }

 private:
  std::uint64_t local() const { return counters_.local_pulls + counters_.local_pushes; }
  void sample_read() {
    // Takes any key with a replica: which keys were replicas when they were read is not stored.
    const std::size_t first = counters_.copy_pulls % keys_.size();
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Key key = keys_[(first + i) % keys_.size()];
      const Store::Word* const word = table_.store().find(key);
      if (word == nullptr || !SlotWord(word->load(std::memory_order_relaxed)).is_copy()) continue;
      core_.sample_read(table_, key);
      return;
    }
  }

  WorkerCore& core_;
  TableCounters& counters_;
  TableShard& table_;
  std::span<const Key> keys_;
  const bool pull_;
  const std::uint64_t local_;   // local keys before the call
  const std::uint64_t copies_;  // reads of replicas before the call
};

}  // namespace lapse

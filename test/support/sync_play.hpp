// One worker's waits for replicas in a random workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lapse/ps/worker.hpp"
#include "test/support/history_live_counters.hpp"

namespace lapse::test {

// Waits by wait_sync, in one call or in steps. Used by the worker's thread.
class SyncPlay {
 public:
  explicit SyncPlay(Worker& worker) : worker_(worker) {}
  // Waits in steps, interleaved with other workers' waits, and notifies `live`. `domain`: the workers of the
  // worker's domain.
  SyncPlay(Worker& worker, LiveCounters& live, std::vector<std::size_t> domain)
      : worker_(worker), live_(&live), domain_(std::move(domain)) {}

  void begin();
  bool active() const { return stage_ != Stage::none; }
  bool may_step() const;
  // Returns a description of the step.
  std::string step();

 private:
  enum class Stage : std::uint8_t { none, own_operations, requested };

  Worker& worker_;
  LiveCounters* live_ = nullptr;
  std::vector<std::size_t> domain_;
  Stage stage_ = Stage::none;
  std::optional<LiveCounters::Sync> sync_;
};

}  // namespace lapse::test

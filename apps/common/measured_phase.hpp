// Costs of a phase of training.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/common/summary.hpp"
#include "lapse/core/statistics/counters.hpp"

namespace lapse::apps {

struct PhaseCost {
  double seconds = 0;      // from a barrier of all workers until the last one is done
  TableCounters accesses;  // of all ranks, on the measured tables
  RankCounters traffic;    // of all ranks

  PhaseCost& operator+=(const PhaseCost& other);
};

// Collective. Runs f on `workers` workers of this rank, after a barrier of all, and returns its costs.
// `name`: of its band in traces of allocation, such as "epoch 1".
PhaseCost run_measured(adapm::ParameterManager& manager, std::int32_t workers,
                       std::span<const TableId> tables, std::string name,
                       const std::function<void(adapm::IntentWorker&)>& f);

std::string epoch_name(std::uint64_t epoch);

// The share of accesses answered at once from this rank's memory; 1 without accesses.
double local_share(const TableCounters& accesses);

// Adds averages over `epochs` epochs: time, local accesses, relocations, messages, bytes.
void add_costs(Summary& summary, const PhaseCost& total, std::uint64_t epochs);

}  // namespace lapse::apps

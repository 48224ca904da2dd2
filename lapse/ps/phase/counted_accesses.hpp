// What the workers of a group have accessed, as the difference of what their slots have counted.
#pragma once

#include <cstddef>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/statistics/counters.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// What the slot has counted until now, by table. Called by its thread, or while it has no worker.
inline std::vector<TableCounters> counted_in(const Registry& registry, std::size_t slot) {
  const WorkerEndpoint& endpoint = *registry.workers()[slot];
  std::vector<TableCounters> counted;
  for (const auto& table : registry.tables()) counted.push_back(endpoint.counted(table->id()));
  return counted;
}

// What was counted between the two; maxima are those of the whole time.
inline TableCounters counted_since(const TableCounters& before, TableCounters now) {
  for (const auto& field : kTableCounterFields)
    if (field.merge == CounterMerge::sum) now.*field.member -= before.*field.member;
  return now;
}

}  // namespace lapse

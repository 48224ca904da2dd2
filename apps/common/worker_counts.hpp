// How many workers run on each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lapse/core/types.hpp"

namespace lapse::apps {

// The list of an option: one number for all ranks, or one number per rank.
using WorkerCounts = std::span<const std::int32_t>;

// Throws ConfigurationError unless the list has one entry or one per rank, none negative.
void check_worker_counts(WorkerCounts counts, std::int32_t ranks);

std::int32_t workers_of(WorkerCounts counts, Rank rank);
// The number of workers on lower ranks.
std::size_t workers_before(WorkerCounts counts, Rank rank);
std::size_t total_workers(WorkerCounts counts, std::int32_t ranks);
// "2,2": one number per rank.
std::string worker_text(WorkerCounts counts, std::int32_t ranks);

}  // namespace lapse::apps

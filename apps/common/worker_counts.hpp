// How many workers run on each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lapse/core/types.hpp"

namespace lapse::apps {

// A list as an option gives it: one number, that of every rank, or one number per rank.
using WorkerCounts = std::span<const std::int32_t>;

// Throws ConfigurationError when the list has neither one entry nor one per rank, or an entry is negative.
void check_worker_counts(WorkerCounts counts, std::int32_t ranks);

std::int32_t workers_of(WorkerCounts counts, Rank rank);
// The workers on the ranks below this one.
std::size_t workers_before(WorkerCounts counts, Rank rank);
std::size_t total_workers(WorkerCounts counts, std::int32_t ranks);
// Such as "2,2", one number per rank.
std::string worker_text(WorkerCounts counts, std::int32_t ranks);

}  // namespace lapse::apps

#include "apps/common/worker_counts.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

void check_worker_counts(WorkerCounts counts, std::int32_t ranks) {
  if (counts.size() != 1 && counts.size() != static_cast<std::size_t>(ranks)) {
    throw ConfigurationError(fmt::format(
        "{} numbers of workers for {} ranks, expected one number or one per rank", counts.size(), ranks));
  }
  for (const std::int32_t count : counts) {
    if (count < 0 || count > ParameterServer::kMaxWorkers) {
      throw ConfigurationError(
          fmt::format("{} workers on a rank, expected 0 to {}", count, ParameterServer::kMaxWorkers));
    }
  }
}

std::int32_t workers_of(WorkerCounts counts, Rank rank) {
  return counts.size() == 1 ? counts[0] : counts[rank.index()];
}

std::size_t workers_before(WorkerCounts counts, Rank rank) {
  return total_workers(counts, rank.value());
}

std::size_t total_workers(WorkerCounts counts, std::int32_t ranks) {
  std::size_t total = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    total += static_cast<std::size_t>(workers_of(counts, Rank{rank}));
  return total;
}

std::string worker_text(WorkerCounts counts, std::int32_t ranks) {
  std::string text;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    text += fmt::format("{}{}", rank == 0 ? "" : ",", workers_of(counts, Rank(rank)));
  return text;
}

}  // namespace lapse::apps

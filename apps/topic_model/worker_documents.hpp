// Which documents of a collection a worker has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/common/worker_counts.hpp"
#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::apps {

// Those of all workers of this rank: each of the n workers of all ranks gets every n-th document.
inline io::DocumentPart part_of_rank(WorkerCounts workers, Rank rank, std::int32_t ranks) {
  return {.index = workers_before(workers, rank),
          .count = std::max<std::size_t>(1, total_workers(workers, ranks)),
          .width = static_cast<std::uint64_t>(workers_of(workers, rank))};
}

// The indices in `bag`, which has the documents of this rank, of those of one of its workers.
inline std::vector<std::size_t> documents_of_worker(const io::BagOfWords& bag, WorkerCounts workers,
                                                    const adapm::ParameterManager& manager,
                                                    std::size_t local_worker) {
  const io::DocumentPart part = part_of_rank(workers, manager.rank(), manager.ranks());
  std::vector<std::size_t> documents;
  for (std::size_t i = 0; i < bag.documents(); ++i)
    if (bag.number(i) % part.count == part.index + local_worker) documents.push_back(i);
  return documents;
}

}  // namespace lapse::apps

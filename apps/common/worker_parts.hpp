// Which items of a collection a worker has: documents, samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/common/worker_counts.hpp"
#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::apps {

// Those of all workers of this rank: each of the n workers of all ranks gets every n-th item.
inline io::DocumentPart part_of_rank(WorkerCounts workers, Rank rank, std::int32_t ranks) {
  return {.index = workers_before(workers, rank),
          .count = std::max<std::size_t>(1, total_workers(workers, ranks)),
          .width = static_cast<std::uint64_t>(workers_of(workers, rank))};
}

// Among the items of this rank, the indices of those of one of its workers. `part`: part_of_rank. `number`:
// gives the number of an item, by index.
template <class Number>
std::vector<std::size_t> indices_of_worker(std::size_t items, const Number& number,
                                           const io::DocumentPart& part, std::size_t local_worker) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < items; ++i)
    if (number(i) % part.count == part.index + local_worker) indices.push_back(i);
  return indices;
}

}  // namespace lapse::apps

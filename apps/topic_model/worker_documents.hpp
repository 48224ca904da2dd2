// Which documents of a collection a worker has.
#pragma once

#include <cstddef>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/common/worker_parts.hpp"

namespace lapse::apps {

// The indices in `bag`, which has the documents of this rank, of those of one of its workers.
inline std::vector<std::size_t> documents_of_worker(const io::BagOfWords& bag, WorkerCounts workers,
                                                    const adapm::ParameterManager& manager,
                                                    std::size_t local_worker) {
  return indices_of_worker(
      bag.documents(), [&](std::size_t i) { return bag.number(i); },
      part_of_rank(workers, manager.rank(), manager.ranks()), local_worker);
}

}  // namespace lapse::apps

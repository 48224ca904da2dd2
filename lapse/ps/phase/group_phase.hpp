// What the workers of one group on a rank share, in a phase of several groups.
#pragma once

#include <cstddef>

#include "lapse/ps/access/phase.hpp"

namespace lapse {

// The part of `all` that belongs to a group: `first` is the index of this rank's first worker in the group,
// `local` and `workers` are its numbers of workers, of this rank and of all ranks.
inline Phase phase_of_group(const Phase& all, WorkerGroup& group, const GroupLevels& levels,
                            std::size_t first, std::size_t local, std::size_t workers) {
  return {.server = all.server,
          .protocol = all.protocol,
          .engine = all.engine,
          .group = group,
          .logger = all.logger,
          .options = all.options,
          .levels = &levels,
          .rank = all.rank,
          .ranks = all.ranks,
          .first_worker = first,
          .local_workers = local,
          .workers = workers,
          .stalls = all.stalls,
          .observer = all.observer};
}

}  // namespace lapse

// The state that the workers of a group on one rank share during a phase, and the seat of one of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/log.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/ps/access/worker_group.hpp"
#include "lapse/transport/engine/progress_engine.hpp"

namespace lapse {

class KeyObserver;
class StallReports;

// References to the server's parts, and the agreed number of workers: those of one group, if the phase has
// several. Constant during the phase.
struct Phase {
  const void* server = nullptr;  // the server whose tables may be used
  RankProtocol& protocol;
  ProgressEngine& engine;
  WorkerGroup& group;
  Logger& logger;
  const Options& options;
  const GroupLevels* levels = nullptr;  // of the group; never null while workers run
  Rank rank;
  std::int32_t ranks = 1;
  std::size_t first_worker = 0;     // index of this rank's first worker in the group
  std::size_t local_workers = 0;    // of this rank
  std::size_t workers = 0;          // of all ranks
  StallReports* stalls = nullptr;   // null: waits are not reported
  KeyObserver* observer = nullptr;  // null: none
};

// A worker's place in its group, and the slot whose thread, operations and counters it uses.
struct Seat {
  const Phase& phase;
  WorkerEndpoint& slot;

  // Among the workers of the group on this rank, and among all of them.
  std::size_t local_index() const { return index() - phase.first_worker; }
  std::size_t index() const { return slot.seat().number; }
};

}  // namespace lapse

// The state that the workers of one rank share during a phase.
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

// References to the server's parts, and the agreed number of workers. Constant during the phase.
struct Phase {
  const void* server = nullptr;  // the server whose tables may be used
  RankProtocol& protocol;
  ProgressEngine& engine;
  WorkerGroup& group;
  Logger& logger;
  const Options& options;
  Rank rank;
  std::int32_t ranks = 1;
  std::size_t first_worker = 0;     // index of this rank's first worker among all
  std::size_t local_workers = 0;    // of this rank
  std::size_t workers = 0;          // of all ranks
  StallReports* stalls = nullptr;   // null: waits are not reported
  KeyObserver* observer = nullptr;  // null: none
};

}  // namespace lapse

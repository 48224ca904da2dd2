// The messages about waits that take too long. Pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/process/process.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/worker/stall_question.hpp"

namespace lapse {

using StallDuration = std::chrono::steady_clock::duration;

// A rank as seen from the reporting rank.
struct SeenRank {
  std::string name;  // "rank 2, process 4711 on node3"
  ProcessState state = ProcessState::unknown;
  bool silent = false;     // was asked and has not answered
  bool unstopped = false;  // is between start_progress and stop_progress, and no thread is attached
};

// A wait of a worker.
struct WorkerStall {
  std::size_t worker = 0;
  Rank rank;
  StallDuration waited{};
  std::string_view what;  // that it waits for
  std::uint64_t operations = 0;
  std::uint64_t keys = 0;
  // The engines' answers; null if the rank's own engine has not answered.
  const StallQuestion* answers = nullptr;
  std::vector<SeenRank> ranks = {};  // ranks that are silent, stopped or ended
};
std::string stall_text(const WorkerStall& stall);

// A wait in a collective call of all ranks.
std::string call_stall_text(Rank rank, StallDuration waited, std::string_view call,
                            std::span<const SeenRank> missing);

// A wait for the latch of a key. `halted`: halted ranks among those that share it.
std::string latch_stall_text(Rank rank, StallDuration waited, Key key, std::string_view table,
                             std::span<const SeenRank> halted);

// A wait for other ranks that have arrived, or may arrive later. `where`: such as "in close".
std::string halted_stall_text(Rank rank, StallDuration waited, std::string_view where,
                              std::span<const SeenRank> halted);

}  // namespace lapse

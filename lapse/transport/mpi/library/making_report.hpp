// A server that not all ranks make.
#pragma once

#include <mpi.h>

#include <chrono>

#include "lapse/core/options.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"

namespace lapse {

// What a rank logs that waits for long for the others, in the making of a server: they cannot be asked yet.
// Thread safety: constant.
struct MakingReport {
  std::chrono::seconds after{0};  // 0: never
  LogLevel level = LogLevel::warning;

  // As the environment has it, where the options of the server are not known yet.
  static MakingReport from_environment();

  // For one wait; logs once. `rank`: this one.
  WhileWaiting by(Rank rank) const;
};

}  // namespace lapse

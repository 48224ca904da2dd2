// Reports that some ranks do not take part in creating a server.
#pragma once

#include <mpi.h>

#include <chrono>

#include "lapse/core/options.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"

namespace lapse {

// Logs that a rank waits long for others while a server is created, when they cannot be asked yet. Thread
// safety: constant.
struct MakingReport {
  std::chrono::seconds after{0};  // 0: never
  LogLevel level = LogLevel::warning;

  // Reads the environment, for use before the server's options are known.
  static MakingReport from_environment();

  // For one wait; logs once. `rank`: this one.
  WhileWaiting by(Rank rank) const;
};

}  // namespace lapse

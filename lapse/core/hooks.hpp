// What an application takes over from the library.
#pragma once

#include <functional>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// For all servers of a process. Any thread calls them, several at a time, with locks of the library held:
// they return soon, call nothing of the library and throw nothing.
struct Hooks {
  // Gets each message, without a line end, in place of standard error. Of this rank of its server.
  std::function<void(LogLevel level, Rank rank, std::string_view message)> log = {};
  // The library is about to end the job with MPI_Abort, as it could not notify the other ranks otherwise; the
  // reason was logged. The job ends when the function returns.
  std::function<void(Rank rank, std::string_view reason)> fatal = {};
  // Around what takes a thread's time: waits, phases, rounds, checkpoints (docs/regions.md lists the names,
  // which are constants). Each region ends on the thread that began it, after those within it.
  std::function<void(const char* name)> begin_region = {};
  std::function<void(const char* name)> end_region = {};
};

// Replaces those that were set before. Messages that are being logged may still go to these.
LAPSE_EXPORT void set_hooks(Hooks hooks);

}  // namespace lapse

// Hooks by which an application takes over tasks of the library.
#pragma once

#include <functional>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// For all servers of a process. Any thread calls them, several at a time, with locks of the library held:
// they must return soon, call nothing of the library and throw nothing.
struct Hooks {
  // Gets each message, without a line end, instead of standard error. `rank`: of the message's server.
  std::function<void(LogLevel level, Rank rank, std::string_view message)> log = {};
  // The library is about to end the job with MPI_Abort because it could not notify the other ranks otherwise;
  // the reason has been logged. The job ends when the function returns.
  std::function<void(Rank rank, std::string_view reason)> fatal = {};
  // Around operations that take a thread's time: waits, phases, rounds, checkpoints (docs/regions.md lists
  // the names, which are constants). Each region ends on the thread that began it, after its nested regions.
  std::function<void(const char* name)> begin_region = {};
  std::function<void(const char* name)> end_region = {};
};

// Replaces the previous hooks, which may still get messages that are being logged.
LAPSE_EXPORT void set_hooks(Hooks hooks);

}  // namespace lapse

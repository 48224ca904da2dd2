// The frame of a program that works on one parameter server.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Creates a server over all ranks, with the options of the environment, runs f on every rank and closes it.
// Returns the exit status: 0, or 1 after an error, of which rank 0 prints one line `error: ...`.
//
// An exception of type lapse::Error must leave f on every rank, as the errors of collective calls do; work
// that can fail on one rank alone is done by a worker, whose failure reaches all ranks. Any other exception
// ends the job; for a lack of memory, also while the server is made, the rank prints such a
// line before.
int run_server_program(const std::function<void(ParameterServer&)>& f);

// Collective. Runs f on a worker of rank 0. When it throws, every rank throws PeerFailed.
void run_on_rank_0(ParameterServer& server, const std::function<void(Worker&)>& f);

// Collective. Returns what f() makes, on every rank. When it throws on one, for lack of memory, say, every
// rank throws PeerFailed.
template <class F>
std::invoke_result_t<F> make_on_every_rank(ParameterServer& server, const F& f) {
  std::optional<std::invoke_result_t<F>> made;
  server.run_workers(1, [&](Worker&) { made.emplace(f()); });
  return std::move(*made);
}

}  // namespace lapse::apps

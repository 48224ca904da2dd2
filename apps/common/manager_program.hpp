// The frame of a program that works on one parameter manager.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "adapm/parameter_manager.hpp"
#include "apps/common/manager_settings.hpp"

namespace lapse::apps {

// Creates a manager over all ranks, runs f on every rank and closes it. The manager has the options of the
// settings and the environment, with this technique in place of theirs, if there is one. Returns the exit
// status: 0, or 1 after an error, of which rank 0 prints one line `error: ...`.
//
// An exception of type lapse::Error must leave f on every rank, as the errors of collective calls do; work
// that can fail on one rank alone is done by a worker, whose failure reaches all ranks. Any other exception
// ends the job; for a lack of memory, also while the manager is made, the rank prints such a
// line before.
int run_manager_program(std::optional<adapm::Technique> technique, const ManagerSettings& settings,
                        const std::function<void(adapm::ParameterManager&)>& f);

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

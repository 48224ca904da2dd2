// The frame of a program with one parameter manager.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "adapm/parameter_manager.hpp"
#include "apps/common/manager_settings.hpp"

namespace lapse::apps {

// Creates a manager over all ranks, runs f on every rank and closes the manager. Its options come from the
// settings and the environment; `technique`, if given, overrides theirs. Returns the exit status: 0, or 1
// after an error, for which rank 0 prints one line `error: ...`.
//
// If f throws lapse::Error, it must do so on every rank, as collective calls do. Work that can fail on one
// rank only is done by a worker, whose failure reaches all ranks. Any other exception ends the job; if the
// rank is out of memory, also while creating the manager, it prints such a line before.
int run_manager_program(std::optional<adapm::Technique> technique, const ManagerSettings& settings,
                        const std::function<void(adapm::ParameterManager&)>& f);

// Collective. Runs f on a worker of rank 0. If f throws, every rank throws PeerFailed.
void run_on_rank_0(ParameterServer& server, const std::function<void(Worker&)>& f);

// Collective. Returns f() on every rank. If f throws on one, e.g. std::bad_alloc, every rank throws
// PeerFailed.
template <class F>
std::invoke_result_t<F> make_on_every_rank(ParameterServer& server, const F& f) {
  std::optional<std::invoke_result_t<F>> made;
  server.run_workers(1, [&](Worker&) { made.emplace(f()); });
  return std::move(*made);
}

}  // namespace lapse::apps

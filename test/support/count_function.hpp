// A user function that counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/ps/function.hpp"
#include "lapse/ps/worker.hpp"
#include "test/support/history_counters.hpp"

namespace lapse::test {

// Implements the function "count": adds one to the worker's element and returns the value before.
struct CountArgument {
  std::uint64_t workers = 0;
  std::uint64_t worker = 0;
};
struct CountResult {
  static constexpr std::size_t kMaxWorkers = 16;
  std::array<std::int64_t, kMaxWorkers> before{};
};
template <Element T>
CountResult count(Key, std::span<T> value, const CountArgument& argument) {
  const bool is_worker = argument.workers <= CountResult::kMaxWorkers && argument.worker < argument.workers;
  if (!is_worker) throw HistoryViolation("a function was given an argument that no worker wrote");
  const CounterLayout layout{argument.workers, value.size() / argument.workers};
  CountResult result;
  std::ranges::copy(layout.counts(std::span<const T>(value)), result.before.begin());
  layout.add_unit(argument.worker, value);
  return result;
}
template <Element T>
using CountFunction = Function<T, CountArgument, CountResult>;

}  // namespace lapse::test

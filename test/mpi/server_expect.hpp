// Checks inside workers. Catch2's assertions must run in one thread, so a worker that finds an error throws:
// run_workers then ends on every rank with the message.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::test {

inline void expect(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error("expected: " + what);
}

inline std::vector<Key> key_range(std::uint64_t first, std::uint64_t end) {
  std::vector<Key> keys;
  for (std::uint64_t key = first; key < end; ++key) keys.emplace_back(key);
  return keys;
}

// Returns the keys of a table that this worker finds in memory.
template <Element T>
std::int64_t count_local(Worker& worker, const Table<T>& table) {
  std::vector<T> value(table.length());
  std::int64_t count = 0;
  for (std::uint64_t key = 0; key < table.keys(); ++key) {
    count += worker.pull_if_local(table, Key(key), value) ? 1 : 0;
  }
  return count;
}

// Checks that exactly one rank visits each key. Called by one worker on each rank.
template <Element T>
void expect_one_owner_each(Worker& worker, const Table<T>& table) {
  std::vector<std::int64_t> visits(table.keys());
  worker.for_each_local(table, [&](Key key, std::span<const T>) { ++visits[key.index()]; });
  worker.all_reduce(std::span<std::int64_t>(visits));
  for (std::size_t key = 0; key < visits.size(); ++key) {
    expect(visits[key] == 1,
           "key " + std::to_string(key) + " on one rank, found " + std::to_string(visits[key]));
  }
}

}  // namespace lapse::test

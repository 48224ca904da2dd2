// Reads a whole table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Pulls the keys [first, last) in batches, in ascending order, and calls f(values) for each batch: rows of
// table.length() elements, valid during the call. Not collective.
template <Element T, class F>
void read_keys(Worker& worker, const Table<T>& table, std::uint64_t first, std::uint64_t last, F&& f) {
  constexpr std::uint64_t kKeysPerPull = 4096;
  std::vector<Key> keys;
  std::vector<T> values;
  while (first < last) {
    keys.clear();
    for (; first < last && keys.size() < kKeysPerPull; ++first) keys.push_back(Key{first});
    values.resize(keys.size() * table.length());
    worker.pull(table, keys, values).wait();
    f(std::span<const T>(values));
  }
}

}  // namespace lapse::apps

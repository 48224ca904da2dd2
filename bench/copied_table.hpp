// A table with a replica of every key on every rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adapm/options.hpp"
#include "adapm/parameter_manager.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

// Replicas are refreshed only by sync_barrier, or a second after a change.
inline adapm::Options copied_options() {
  adapm::Options options = adapm::Options::from_environment();
  options.server = separate_options();
  options.technique = adapm::Technique::full_replication;
  options.max_rounds_per_second = 1;
  return options;
}

// One object on each rank: rank r owns the keys r * keys to r * keys + keys - 1.
class CopiedTable {
 public:
  // Collective.
  CopiedTable(std::uint64_t keys, std::size_t length)
      : keys_(keys),
        manager_(MPI_COMM_WORLD, copied_options()),
        table_(manager_.create_table<float>({.name = "copied",
                                             .keys = keys * static_cast<std::uint64_t>(manager_.ranks()),
                                             .length = length,
                                             .home = HomeMapKind::range})) {}

  adapm::ParameterManager& manager() { return manager_; }
  const Table<float>& table() const { return table_; }
  std::vector<Key> keys_of(int rank) const {
    std::vector<Key> keys;
    for (std::uint64_t key = 0; key < keys_; ++key)
      keys.emplace_back(static_cast<std::uint64_t>(rank) * keys_ + key);
    return keys;
  }
  TableCounters counted() { return manager_.statistics().server.table_total(table_.id()); }

  // Collective. Waits until every rank has every key.
  void make_copies() {
    const auto others = static_cast<std::uint64_t>(manager_.ranks() - 1);
    const std::uint64_t expected = others * table_.keys();
    while (counted().copies_in < expected)
      manager_.run_workers(1, [](adapm::IntentWorker& worker) { worker.sync_barrier(); });
  }

 private:
  std::uint64_t keys_;
  adapm::ParameterManager manager_;
  Table<float> table_;
};

// Pushes ones to each key, in calls of at most 1,000 keys.
inline void push_once(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
  constexpr std::size_t kBatch = 1000;
  const std::vector<float> updates(kBatch * table.length(), 1.0F);
  for (; !keys.empty(); keys = keys.subspan(std::min(kBatch, keys.size()))) {
    const std::span<const Key> batch = keys.first(std::min(kBatch, keys.size()));
    worker.push(table, batch, std::span(updates).first(batch.size() * table.length()));
  }
}

}  // namespace lapse::bench

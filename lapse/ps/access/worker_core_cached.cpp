// WorkerCore: reads of tables under SSP, which a worker keeps for some clocks.
#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

ReadCache& WorkerCore::read_cache(const TableShard& table) {
  const std::size_t index = table.id().index();
  if (read_caches_.size() <= index) read_caches_.resize(index + 1);
  auto& cache = read_caches_[index];
  if (cache == nullptr) cache = std::make_unique<ReadCache>();
  return *cache;
}

Level WorkerCore::least_stamp(const TableShard& table) const {
  return endpoint_.level().clock() - static_cast<Level>(*table.definition().clock_bound);
}

void WorkerCore::fetch(const TableHandle& table, std::span<const Key> keys, std::byte* to) {
  const TableShard& state = table.state();
  // The main copies show this level, now and later.
  const Level stamp = phase_.levels->learnt();
  access(table, keys, {.operation = {.kind = OperationKind::pull}, .destination = to}).wait();
  ReadCache& cache = read_cache(state);
  cache.drop_older(least_stamp(state));
  for (const Key key : keys) {
    const std::size_t bytes = state.value_bytes(key);
    try {
      cache.insert(key, stamp, {to, bytes});
    } catch (const std::bad_alloc&) {
      // It is read again when it is needed.
      cache.erase(key);
    }
    to += bytes;
  }
}

Operation WorkerCore::pull_cached(const TableHandle& table, std::span<const Key> keys, std::byte* to) try {
  const TableShard& state = table.state();
  ReadCache& cache = read_cache(state);
  const Level least = least_stamp(state);
  TableCounters& counters = gate_.counters(table);
  const std::uint64_t local_before = counters.local_pulls;
  std::vector<Key> missing;
  std::vector<std::byte*> places;
  std::size_t missing_bytes = 0;
  for (const Key key : keys) {
    const std::size_t bytes = state.value_bytes(key);
    if (read_if_local(table, key, to)) {
      // Newer than what was kept: reads never show an older value than before.
      cache.erase(key);
    } else if (const std::byte* const kept = cache.find(key, least)) {
      std::memcpy(to, kept, bytes);
      ++counters.local_pulls;
      ++counters.copy_pulls;
    } else {
      missing.push_back(key);
      places.push_back(to);
      missing_bytes += bytes;
    }
    to += bytes;
  }
  endpoint_.keys_of_operations()[state.id().index()] += counters.local_pulls - local_before;
  if (missing.empty()) {
    ++counters.operations;
    return {};
  }
  std::vector<std::byte> values(missing_bytes);
  fetch(table, missing, values.data());
  const std::byte* from = values.data();
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const std::size_t bytes = state.value_bytes(missing[i]);
    std::memcpy(places[i], from, bytes);
    from += bytes;
  }
  return {};
} catch (const std::bad_alloc&) {
  throw_out_of_memory(table, keys.size());
}

Operation WorkerCore::pull_elements_cached(const TableHandle& table, const ElementPairs& pairs,
                                           std::byte* to) try {
  const TableShard& state = table.state();
  // Whole rows: what a later call reads of them is there, too.
  std::vector<Key> rows;
  for (std::size_t at = 0; at < pairs.size(); at = pairs.end_of_run(at)) rows.push_back(pairs.key(at));
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<std::size_t> offsets{0};
  for (const Key row : rows) offsets.push_back(offsets.back() + state.value_bytes(row));
  std::vector<std::byte> values(offsets.back());
  pull_cached(table, rows, values.data()).wait();
  const std::size_t bytes = element_bytes(state.sizes().layout().type);
  for (std::size_t at = 0; at < pairs.size();) {
    const auto row = static_cast<std::size_t>(std::ranges::lower_bound(rows, pairs.key(at)) - rows.begin());
    for (const std::size_t end = pairs.end_of_run(at); at < end; ++at, to += bytes)
      std::memcpy(to, values.data() + offsets[row] + pairs.indices[at] * bytes, bytes);
  }
  return {};
} catch (const std::bad_alloc&) {
  throw_out_of_memory(table, pairs.size());
}

void WorkerCore::forget_reads(const TableHandle& table, std::span<const Key> keys) {
  const TableShard& state = table.state();
  if (!state.definition().caches_reads) [[likely]]
    return;
  ReadCache& cache = read_cache(state);
  for (const Key key : keys) cache.erase(key);
}

void WorkerCore::forget_before_sync() {
  for (const auto& cache : read_caches_)
    if (cache != nullptr) cache->clear();
  for (const auto& gate : value_gates_)
    if (gate != nullptr) gate->clear();
}

void WorkerCore::change_reads(const TableShard& table, std::span<const Key> keys,
                              const AccessRequest& request) {
  ReadCache& cache = read_cache(table);
  const UpdateKernel& rule = table.definition().rule;
  const std::byte* update = request.updates;
  for (const Key key : keys) {
    // A push to a key that cannot be made fails, possibly later.
    if (!request.runs_user_code(table) && rule.rule().state_elements(1) == 0) {
      cache.change(key, [&](std::byte* value) {
        rule.apply(value, update, table.sizes().length(key), request.operation.scale);
      });
    } else {
      cache.erase(key);
    }
    update += table.value_bytes(key);
  }
}

}  // namespace lapse

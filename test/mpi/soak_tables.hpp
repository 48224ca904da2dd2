// Tables of integers on which workers use all features. All sums are known exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/random.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"

namespace lapse::test {

// The contents of the tables: element i of a key's value is i + 1 times the number of the key. By table, then
// key.
using SoakSums = std::vector<std::int64_t>;

// Tables of all kinds. `managed` and `sparse` are pushed to at keys of intents; `assigned` is set, each key
// by one worker; `leased` is leased, localized, called and pushed to, and has some long values.
class SoakTables {
 public:
  static constexpr std::uint64_t kKeys = 400;  // per table
  static constexpr std::size_t kTables = 4;

  explicit SoakTables(adapm::ParameterManager& manager)
      : managed_(manager.create_table<std::int64_t>({.name = "managed", .keys = kKeys, .length = 3})),
        sparse_(manager.create_table<std::int64_t>({.name = "sparse", .sparse = true, .length = 2})),
        assigned_(manager.create_table<std::int32_t>(
            {.name = "assigned", .keys = kKeys, .lengths = [](Key key) { return key.value() % 4 + 1; }})),
        leased_(manager.server().create_table<double>(
            {.name = "leased",
             .keys = kKeys,
             .lengths = [](Key key) { return std::size_t{key.value() < kLongKeys ? 3000U : 2U}; }})),
        add_(manager.server().register_function<double, std::int64_t, double>(
            "add", [](Key, std::span<double> value, std::int64_t number) {
              add_number(value, number);
              return value[0];
            })) {}

  void add_to(Checkpoints& checkpoints) const {
    checkpoints.add(managed_);
    checkpoints.add(sparse_);
    checkpoints.add(assigned_);
    checkpoints.add(leased_);
  }

  static SoakSums no_sums() { return SoakSums(kTables * kKeys); }
  static std::string to_text(const SoakSums& sums) {
    return {reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(std::int64_t)};
  }
  static SoakSums from_text(const std::string& text) {
    SoakSums sums = no_sums();
    expect(text.size() == sums.size() * sizeof(std::int64_t), "sums of all keys");
    std::memcpy(sums.data(), text.data(), text.size());
    return sums;
  }

  // One part of a phase, run by every worker: `batches` batches of random calls. Adds their changes to
  // `changes`. `sums`: the contents of the tables when the phase began.
  void work(adapm::IntentWorker& worker, std::uint64_t seed, int batches, const SoakSums& sums,
            SoakSums& changes) const;

  // Every worker makes many large pushes at once, so that pools of buffers and of operations, which keep
  // memory for reuse, reach their largest size.
  void burst(Worker& worker, SoakSums& changes) const;

  // Collective over the workers, after a sync_barrier. Throws unless every value matches the sums.
  void check(Worker& worker, const SoakSums& sums) const {
    for (std::uint64_t key = worker.index(); key < kKeys; key += worker.count()) {
      check_value(worker, managed_, Key(key), sums[key]);
      check_value(worker, sparse_, sparse_key(key), sums[kKeys + key]);
      check_value(worker, assigned_, Key(key), sums[2 * kKeys + key]);
      check_value(worker, leased_, Key(key), sums[3 * kKeys + key]);
    }
  }

 private:
  static constexpr std::uint64_t kLongKeys = 4;
  static constexpr std::size_t kBatchKeys = 8;

  static Key sparse_key(std::uint64_t number) { return Key(mix_bits(number + 1)); }
  template <class T>
  static void add_number(std::span<T> value, std::int64_t number) {
    for (std::size_t i = 0; i < value.size(); ++i)
      value[i] += static_cast<T>(number * static_cast<std::int64_t>(i + 1));
  }
  template <class T>
  static void append_number(std::vector<T>& values, std::size_t length, std::int64_t number) {
    values.resize(values.size() + length);
    add_number(std::span(values).last(length), number);
  }
  template <Element T>
  static void check_value(Worker& worker, const Table<T>& table, Key key, std::int64_t number) {
    std::vector<T> value(table.length(key));
    std::vector<T> expected;
    append_number(expected, value.size(), number);
    worker.pull(table, key, value).wait();
    if (value == expected) return;
    throw std::runtime_error("key " + std::to_string(key.value()) + " of table '" + table.name() + "' is " +
                             std::to_string(value[0]) + ", expected " + std::to_string(number));
  }

  // One worker's part of a phase.
  class Calls;

  Table<std::int64_t> managed_;
  Table<std::int64_t> sparse_;
  Table<std::int32_t> assigned_;
  Table<double> leased_;
  Function<double, std::int64_t, double> add_;
};

class SoakTables::Calls {
 public:
  Calls(const SoakTables& tables, adapm::IntentWorker& worker, std::uint64_t seed, const SoakSums& sums,
        SoakSums& changes)
      : tables_(tables), worker_(worker), random_(seed), sums_(sums), changes_(changes) {}

  void run(int batches) {
    constexpr int kAhead = 3;
    std::vector<std::vector<std::uint64_t>> keys;
    const Clock begin = worker_.current_clock();
    for (int batch = 0; batch < batches + kAhead; ++batch) {
      keys.push_back(numbers(kBatchKeys));
      const Clock first(begin.value() + batch);
      if (batch < batches) signal(keys.back(), Clock(first.value() + kAhead));
      if (batch >= kAhead) access(keys[static_cast<std::size_t>(batch - kAhead)]);
      other_call();
      worker_.advance_clock();
    }
    worker_.wait_all();
  }

 private:
  std::uint64_t number(std::uint64_t below) { return mix_bits(random_ += 0x9e37'79b9'7f4a'7c15U) % below; }
  std::vector<std::uint64_t> numbers(std::size_t count) {
    std::vector<std::uint64_t> keys(count);
    // Some keys are chosen more often than others.
    for (std::uint64_t& key : keys) key = number(number(2) == 0 ? 20 : kKeys);
    return keys;
  }
  static std::vector<Key> keys_of(std::span<const std::uint64_t> numbers) {
    std::vector<Key> keys;
    for (const std::uint64_t number : numbers) keys.emplace_back(number);
    return keys;
  }
  static std::vector<Key> sparse_keys(std::span<const std::uint64_t> numbers) {
    std::vector<Key> keys;
    for (const std::uint64_t number : numbers) keys.push_back(sparse_key(number));
    return keys;
  }

  void signal(std::span<const std::uint64_t> numbers, Clock start) {
    const Clock end(start.value() + 1);
    worker_.intent(tables_.managed_, keys_of(numbers), start, end);
    worker_.intent(tables_.sparse_, sparse_keys(numbers), start, end);
  }
  void access(std::span<const std::uint64_t> numbers) {
    std::vector<std::int64_t> three;
    std::vector<std::int64_t> two;
    for (const std::uint64_t key : numbers) {
      const auto by = static_cast<std::int64_t>(number(100));
      append_number(three, 3, by);
      append_number(two, 2, -by);
      changes_[key] += by;
      changes_[kKeys + key] -= by;
    }
    std::vector<std::int64_t> values(three.size());
    Operation pull = worker_.pull(tables_.managed_, keys_of(numbers), values);
    worker_.push(tables_.managed_, keys_of(numbers), three);
    worker_.push(tables_.sparse_, sparse_keys(numbers), two);
    pull.wait();
    for (std::size_t i = 0; i < values.size(); i += 3)
      expect(values[i + 2] == 3 * values[i], "elements of one push together");
  }

  void other_call() {
    switch (number(12)) {
      case 0:
        return assign();
      case 1:
        return lease();
      case 2:
        return call();
      case 3:
        worker_.localize(tables_.leased_, keys_of(numbers(4)));
        return;
      case 4:
        return update_local();
      case 5:
        return push_leased();
      case 6:
        if (number(8) == 0) worker_.wait_sync();
        return;
      case 7:
        worker_.localize(tables_.managed_, keys_of(numbers(2)));
        return;
      case 8:
        if (number(8) == 0) worker_.wait_all();
        return;
      case 9:
        return read_sparse();
      default:
        return;
    }
  }
  // A key that no other worker sets.
  void assign() {
    const std::uint64_t own = (kKeys - 1 - worker_.index()) / worker_.count() + 1;
    const std::uint64_t key = number(own) * worker_.count() + worker_.index();
    const auto next = static_cast<std::int64_t>(number(1'000'000));
    std::vector<std::int32_t> value;
    append_number(value, tables_.assigned_.length(Key(key)), next);
    worker_.set(tables_.assigned_, Key(key), value);
    changes_[2 * kKeys + key] = next - sums_[2 * kKeys + key];
    std::vector<std::int32_t> seen(value.size());
    worker_.pull(tables_.assigned_, Key(key), seen).wait();
    expect(seen == value, "a worker's own assignment");
  }
  void note_leased(std::uint64_t key, std::int64_t by) { changes_[3 * kKeys + key] += by; }
  void lease() {
    const std::vector<std::uint64_t> chosen = numbers(3);
    const std::vector<Key> keys = keys_of(chosen);
    Lease lease = worker_.lease(tables_.leased_, std::span<const Key>(keys));
    const auto values = lease.values(tables_.leased_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      add_number(values[i], 7);
      note_leased(chosen[i], 7);
    }
    lease.release();
  }
  void call() {
    const std::vector<std::uint64_t> chosen = numbers(4);
    const std::vector<std::int64_t> arguments(chosen.size(), 5);
    std::vector<double> results(chosen.size());
    worker_.call(tables_.leased_, tables_.add_, keys_of(chosen), arguments, results).wait();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      note_leased(chosen[i], 5);
      expect(results[i] >= 5, "a function's result with its own addition");
    }
  }
  void update_local() {
    for (const std::uint64_t key : numbers(4)) {
      if (worker_.update_if_local(tables_.leased_, Key(key), [](auto value) { add_number(value, 2); }))
        note_leased(key, 2);
    }
  }
  void push_leased() {
    const std::vector<std::uint64_t> chosen = numbers(4);
    std::vector<double> updates;
    for (const std::uint64_t key : chosen) {
      append_number(updates, tables_.leased_.length(Key(key)), 1);
      note_leased(key, 1);
    }
    worker_.push(tables_.leased_, keys_of(chosen), updates);
  }
  void read_sparse() {
    std::vector<std::int64_t> value(2);
    for (const std::uint64_t key : numbers(4)) {
      if (worker_.pull_if_local(tables_.sparse_, sparse_key(key), value))
        expect(value[1] == 2 * value[0], "elements of one push together");
    }
  }

  const SoakTables& tables_;
  adapm::IntentWorker& worker_;
  std::uint64_t random_;
  const SoakSums& sums_;
  SoakSums& changes_;
};

inline void SoakTables::burst(Worker& worker, SoakSums& changes) const {
  constexpr int kPushes = 300;
  const std::vector<Key> keys = key_range(0, kLongKeys);
  std::vector<double> updates;
  for (const Key key : keys) append_number(updates, leased_.length(key), 1);
  for (int i = 0; i < kPushes; ++i) worker.push(leased_, keys, updates);
  for (const Key key : keys) changes[3 * kKeys + key.index()] += kPushes;
  worker.wait_all();
}

inline void SoakTables::work(adapm::IntentWorker& worker, std::uint64_t seed, int batches,
                             const SoakSums& sums, SoakSums& changes) const {
  Calls(*this, worker, mix_bits(seed * 1000 + worker.index()), sums, changes).run(batches);
}

// Collective over the ranks. Runs one phase with `workers` workers on each rank, and checks the tables at its
// end. Updates the sums to the new contents, equally on all ranks.
inline void run_soak_phase(adapm::ParameterManager& manager, const SoakTables& tables, std::int32_t workers,
                           std::uint64_t seed, int batches, bool bursts, SoakSums& sums) {
  SoakSums next = sums;
  manager.run_workers(workers, [&](adapm::IntentWorker& worker) {
    SoakSums changes = SoakTables::no_sums();
    if (bursts) tables.burst(worker, changes);
    tables.work(worker, seed, batches, sums, changes);
    worker.all_reduce(std::span<std::int64_t>(changes));
    for (std::size_t i = 0; i < changes.size(); ++i) changes[i] += sums[i];
    worker.sync_barrier();
    tables.check(worker, changes);
    if (worker.local_index() == 0) next = changes;
  });
  sums = next;
}

}  // namespace lapse::test

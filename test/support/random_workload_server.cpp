#include "test/support/random_workload_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "test/support/random_workload_assignments.hpp"
#include "test/support/random_workload_counters.hpp"

namespace lapse::test {

namespace {

std::vector<Key> all_keys(std::uint64_t keys) {
  std::vector<Key> all;
  for (std::uint64_t key = 0; key < keys; ++key) all.push_back(Key(key));
  return all;
}

template <Element T>
std::vector<Counts> pull_counts(Worker& worker, const Table<T>& table, const CounterLayout& layout) {
  std::vector<T> values(table.keys() * layout.length());
  worker.pull(table, all_keys(table.keys()), values).wait();
  std::vector<Counts> counts;
  for (std::size_t key = 0; key < table.keys(); ++key) {
    counts.push_back(
        layout.counts(std::span<const T>(values).subspan(key * layout.length(), layout.length())));
  }
  return counts;
}

template <class Log>
void encode_logs(std::vector<std::int64_t>& numbers, const std::vector<Log>& logs) {
  numbers.push_back(static_cast<std::int64_t>(logs.size()));
  for (const Log& log : logs) {
    const std::vector<std::int64_t> encoded = log.encode();
    numbers.push_back(static_cast<std::int64_t>(encoded.size()));
    numbers.insert(numbers.end(), encoded.begin(), encoded.end());
  }
}

template <class Log>
void decode_logs(std::span<const std::int64_t>& numbers, std::vector<Log>& logs) {
  const auto count = static_cast<std::size_t>(numbers[0]);
  numbers = numbers.subspan(1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::size_t>(numbers[0]);
    logs.push_back(Log::decode(numbers.subspan(1, size)));
    numbers = numbers.subspan(1 + size);
  }
}

template <class Log>
void append_logs(std::vector<Log>& to, std::vector<Log>&& from) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace

std::size_t ServerWorkload::all_workers() const {
  return static_cast<std::size_t>(std::accumulate(workers.begin(), workers.end(), 0));
}

void ServerHistory::append(ServerHistory other) {
  append_logs(counters, std::move(other.counters));
  append_logs(large, std::move(other.large));
  append_logs(assignments, std::move(other.assignments));
}

std::vector<std::int64_t> ServerHistory::encode() const {
  std::vector<std::int64_t> numbers;
  encode_logs(numbers, counters);
  encode_logs(numbers, large);
  encode_logs(numbers, assignments);
  return numbers;
}

ServerHistory ServerHistory::decode(std::span<const std::int64_t> numbers) {
  ServerHistory history;
  decode_logs(numbers, history.counters);
  decode_logs(numbers, history.large);
  decode_logs(numbers, history.assignments);
  return history;
}

ServerWorkloadRun::ServerWorkloadRun(ParameterServer& server, const ServerWorkload& workload)
    : server_(server),
      workload_(workload),
      layout_{workload.all_workers(), 1},
      large_layout_{workload.all_workers(), workload.large_length / workload.all_workers()},
      counters_(server.create_table<std::int64_t>({.name = "counters",
                                                   .keys = workload.keys,
                                                   .length = layout_.length(),
                                                   .home = workload.home,
                                                   .home_function = [](Key) { return 0; }})),
      assignments_(server.create_table<std::int64_t>({.name = "assignments",
                                                      .keys = workload.keys,
                                                      .length = Assignment::kLength,
                                                      .home = HomeMapKind::range,
                                                      .update_rule = UpdateRule::assign()})) {
  if (workload.large_length > 0) {
    large_ = server.create_table<float>({.name = "large",
                                         .keys = workload.keys,
                                         .length = large_layout_.length(),
                                         .home = workload.home,
                                         .home_function = [](Key) { return 0; }});
  }
  const std::size_t rank = server.rank().index();
  std::size_t worker = 0;
  for (std::size_t other = 0; other < rank; ++other)
    worker += static_cast<std::size_t>(workload.workers[other]);
  for (std::int32_t local = 0; local < workload.workers[rank]; ++local, ++worker) {
    history_.counters.emplace_back(worker, layout_.workers, workload.keys);
    history_.large.emplace_back(worker, layout_.workers, workload.keys);
    history_.assignments.emplace_back(worker, workload.keys);
  }
}

void ServerWorkloadRun::run() {
  for (std::size_t phase = 0; phase < workload_.phases; ++phase) {
    server_.run_workers(workload_.workers[server_.rank().index()],
                        [&](Worker& worker) { work(worker, phase); });
  }
}

void ServerWorkloadRun::work(Worker& worker, std::size_t phase) {
  const std::size_t local = worker.local_index();
  CounterClient<std::int64_t> counting(worker, counters_, layout_, history_.counters[local], nullptr);
  AssignmentClient assigning(worker, assignments_, history_.assignments[local]);
  std::vector<TableClient*> clients{&counting, &assigning};
  std::optional<CounterClient<float>> large;
  if (large_) {
    large.emplace(worker, *large_, large_layout_, history_.large[local], nullptr);
    clients = {&counting, &counting, &assigning, &assigning, &*large};
  }
  for (std::size_t round = 0; round < workload_.rounds; ++round) {
    RandomEngine random(workload_.seed + 1000 * phase + 100 * round, worker.index());
    const WorkloadSettings settings = WorkloadSettings::random(random, workload_.calls);
    RandomWorkload(clients, settings, random).run();
    worker.barrier();
    check_after_barrier(worker, counters_, layout_, history_.counters[local]);
    if (large_) check_after_barrier(worker, *large_, large_layout_, history_.large[local]);
    worker.barrier();
  }
}

template <Element T>
void ServerWorkloadRun::check_after_barrier(Worker& worker, const Table<T>& table,
                                            const CounterLayout& layout, CounterLog& log) const {
  std::vector<std::int64_t> pushes(workload_.keys * layout.workers, 0);
  for (std::size_t key = 0; key < workload_.keys; ++key) {
    pushes[key * layout.workers + worker.index()] = log.pushes(Key(key));
  }
  worker.all_reduce(pushes);
  const std::vector<Counts> seen = pull_counts(worker, table, layout);
  for (std::size_t key = 0; key < workload_.keys; ++key) {
    const std::span<const std::int64_t> expected =
        std::span(pushes).subspan(key * layout.workers, layout.workers);
    if (!std::ranges::equal(seen[key], expected)) {
      throw HistoryViolation(fmt::format(
          "after a barrier worker {} saw key {} of table '{}' as {}, not as {}", worker.index(), key,
          table.name(), to_string(seen[key]), to_string(Counts(expected.begin(), expected.end()))));
    }
    log.pulled(Key(key), log.next_position(), log.pushes(Key(key)), seen[key]);
  }
}

void ServerWorkloadRun::pull_final_values() {
  server_.run_workers(1, [&](Worker& worker) {
    final_counters_ = pull_counts(worker, counters_, layout_);
    if (large_) final_large_ = pull_counts(worker, *large_, large_layout_);
    std::vector<std::int64_t> values(workload_.keys * Assignment::kLength);
    worker.pull(assignments_, all_keys(workload_.keys), values).wait();
    for (std::size_t key = 0; key < workload_.keys; ++key) {
      final_assignments_.push_back(
          Assignment::from(std::span(values).subspan(key * Assignment::kLength, Assignment::kLength)));
    }
  });
}

void ServerWorkloadRun::check(const ServerHistory& all) const {
  if (all.counters.size() != layout_.workers) throw HistoryViolation("histories of some workers are missing");
  check_counters(all.counters, final_counters_);
  if (large_) check_counters(all.large, final_large_);
  check_assignments(all.assignments, final_assignments_);
}

}  // namespace lapse::test

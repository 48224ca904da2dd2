#include "test/support/random_workload_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "lapse/ps/function.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/support/random_workload_assignments.hpp"
#include "test/support/summed_gradients.hpp"

namespace lapse::test {

namespace {

std::vector<Key> all_keys(const TableShape& shape) {
  std::vector<Key> all;
  for (std::uint64_t number = 0; number < shape.keys; ++number) all.push_back(shape.name(Key(number)));
  return all;
}

template <Element T>
std::vector<Counts> pull_counts(Worker& worker, const Table<T>& table, const TableShape& shape,
                                const CounterLayout& layout) {
  const std::vector<Key> keys = all_keys(shape);
  std::size_t elements = 0;
  for (const Key key : keys) elements += table.length(key);
  std::vector<T> values(elements);
  worker.pull(table, keys, values).wait();
  std::vector<Counts> counts;
  std::span<const T> rest(values);
  for (const Key key : keys) {
    const CounterLayout of_key{layout.workers, layout.width * shape.width(key)};
    counts.push_back(of_key.counts(rest.first(of_key.length())));
    rest = rest.subspan(of_key.length());
  }
  return counts;
}

TableOptions counting_table(const std::string& name, const TableShape& shape, std::size_t shortest,
                            HomeMapKind home) {
  TableOptions options;
  options.name = name;
  shape.apply(options, shortest);
  options.home = shape.sparse && home == HomeMapKind::range ? HomeMapKind::hash : home;
  options.home_function = [](Key) { return 0; };
  return options;
}

TableOptions counters_table(const ServerWorkload& workload, std::size_t shortest) {
  TableOptions options = counting_table("counters", workload.shape(), shortest, workload.home);
  if (workload.rules().eventual) options.consistency = Consistency::eventual;
  if (workload.replication && workload.replication->gradients)
    options.update_rule = UpdateRule::custom<double>(SummedGradients<double>{});
  return options;
}

TableOptions assigning_table(TableShape shape) {
  shape.own_lengths = false;
  TableOptions options = counting_table("assignments", shape, Assignment::kLength, HomeMapKind::range);
  options.update_rule = UpdateRule::assign();
  return options;
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
      layout_{workload.rules().elements(workload.all_workers()), 1},
      large_layout_{workload.all_workers(), workload.large_length / workload.all_workers()},
      count_(server.register_function<double, CountArgument, CountResult>("count", &count<double>)),
      count_large_(server.register_function<float, CountArgument, CountResult>("count large", &count<float>)),
      counters_(server.create_table<double>(counters_table(workload, layout_.length()))),
      assignments_(server.create_table<std::int64_t>(assigning_table(workload.shape()))),
      policy_(workload.replication ? workload.replication->technique : Technique::adaptive,
              {workload.rules().eventual, false, workload.rules().eventual},
              workload.seed + server.rank().index()) {
  if (workload.replication) server.manage(intents_, policy_, {.interval = workload.replication->interval});
  if (workload.large_length > 0) {
    TableOptions options =
        counting_table("large", {.keys = workload.keys}, large_layout_.length(), workload.home);
    if (workload.large_rules().eventual) options.consistency = Consistency::eventual;
    large_ = server.create_table<float>(options);
  }
  const std::size_t rank = server.rank().index();
  std::size_t worker = 0;
  for (std::size_t other = 0; other < rank; ++other)
    worker += static_cast<std::size_t>(workload.workers[other]);
  for (std::int32_t local = 0; local < workload.workers[rank]; ++local, ++worker) {
    const std::size_t all = workload.all_workers();
    history_.counters.emplace_back(worker, all, workload.keys, workload.rules());
    history_.large.emplace_back(worker, all, workload.keys, workload.large_rules());
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
  const TableShape shape = workload_.shape();
  CounterClient<double> counting(worker, counters_, count_, shape, layout_, history_.counters[local],
                                 nullptr);
  AssignmentClient assigning(worker, assignments_, shape, history_.assignments[local]);
  std::vector<TableClient*> clients{&counting, &assigning};
  std::optional<CounterClient<float>> large;
  if (large_) {
    large.emplace(worker, *large_, count_large_, TableShape{.keys = workload_.keys}, large_layout_,
                  history_.large[local], nullptr);
    clients = {&counting, &counting, &assigning, &assigning, &*large};
  }
  for (std::size_t round = 0; round < workload_.rounds; ++round) {
    RandomEngine random(workload_.seed + 1000 * phase + 100 * round, worker.index());
    WorkloadSettings settings = WorkloadSettings::random(random, workload_.calls);
    settings.bulk = workload_.bulk;
    if (workload_.resets) settings.weights[static_cast<std::size_t>(Call::set)] = 4;
    const auto& replication = workload_.replication;
    if (replication) {
      settings.weights[static_cast<std::size_t>(Call::intent)] = replication->intents;
      settings.weights[static_cast<std::size_t>(Call::sync)] = replication->syncs;
    }
    auto intents = replication ? std::make_unique<IntentPlay>(intents_, replication->leaves_some) : nullptr;
    auto leases =
        workload_.leases ? std::make_unique<LeasePlay>(worker, LeasePlay::Waiting::blocks) : nullptr;
    RandomWorkload(clients, settings, random, std::move(leases), std::move(intents),
                   std::make_unique<SyncPlay>(worker))
        .run();
    // Without replicas a barrier suffices.
    if (round % 2 == 0 || replication) {
      worker.sync_barrier();
    } else {
      worker.barrier();
    }
    check_after_barrier(worker, counters_, shape, layout_, history_.counters[local]);
    if (large_) {
      check_after_barrier(worker, *large_, {.keys = workload_.keys}, large_layout_, history_.large[local]);
    }
    worker.barrier();
  }
}

template <Element T>
void ServerWorkloadRun::check_after_barrier(Worker& worker, const Table<T>& table, const TableShape& shape,
                                            const CounterLayout& layout, CounterLog& log) const {
  std::vector<std::int64_t> pushes(workload_.keys * layout.workers, 0);
  for (std::size_t key = 0; key < workload_.keys; ++key) {
    pushes[key * layout.workers + worker.index()] = log.pushes(Key(key));
  }
  worker.all_reduce(pushes);
  const std::vector<Counts> seen = pull_counts(worker, table, shape, layout);
  const bool resets = log.rules().resets;
  if (resets) {
    for (std::size_t key = 0; key < workload_.keys; ++key)
      std::ranges::copy(seen[key], pushes.begin() + static_cast<std::ptrdiff_t>(key * layout.workers));
    worker.all_reduce(pushes);
    for (std::int64_t& sum : pushes) sum /= static_cast<std::int64_t>(workload_.all_workers());
  }
  for (std::size_t key = 0; key < workload_.keys; ++key) {
    const std::span<const std::int64_t> expected =
        std::span(pushes).subspan(key * layout.workers, layout.workers);
    if (!std::ranges::equal(seen[key], expected)) {
      throw HistoryViolation(fmt::format(
          "after a barrier worker {} saw key {} of table '{}' as {}, not as {}", worker.index(), key,
          table.name(), to_string(seen[key]), to_string(Counts(expected.begin(), expected.end()))));
    }
    log.pulled(Key(key), log.next_position(), log.own(Key(key)), seen[key]);
  }
}

void ServerWorkloadRun::pull_final_values() {
  server_.run_workers(1, [&](Worker& worker) {
    final_counters_ = pull_counts(worker, counters_, workload_.shape(), layout_);
    if (large_) final_large_ = pull_counts(worker, *large_, {.keys = workload_.keys}, large_layout_);
    std::vector<std::int64_t> values(workload_.keys * Assignment::kLength);
    worker.pull(assignments_, all_keys(workload_.shape()), values).wait();
    for (std::size_t key = 0; key < workload_.keys; ++key) {
      final_assignments_.push_back(
          Assignment::from(std::span(values).subspan(key * Assignment::kLength, Assignment::kLength)));
    }
  });
}

void ServerWorkloadRun::check(const ServerHistory& all) const {
  if (all.counters.size() != workload_.all_workers())
    throw HistoryViolation("histories of some workers are missing");
  check_counters(all.counters, final_counters_);
  if (large_) check_counters(all.large, final_large_);
  check_assignments(all.assignments, final_assignments_);
}

}  // namespace lapse::test

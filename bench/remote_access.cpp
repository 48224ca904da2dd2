#include "bench/remote_access.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "bench/plain_exchange.hpp"
#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;  // accessed keys: the upper half of the table, whose home is rank 1
constexpr std::size_t kRuns = 20;
constexpr std::size_t kInFlight = 100;  // calls for one key that are unanswered at once, in the cases async

// Key of the table `finished`, at rank 1: its value is the number of runs that rank 0 has finished.
constexpr Key kFinished(1);

struct RemoteCase {
  std::string name;
  bool push = false;
  std::size_t batch = 1;      // keys in a call
  std::size_t accesses;       // keys in a run
  bool computing = false;     // the other rank does not wait in the server
  std::size_t in_flight = 1;  // calls; 1: each is waited for

  // Whether the baseline reads and writes rows too, rather than only sending messages with their payload.
  bool by_hand() const { return batch > 1 && in_flight == 1; }
};

const std::vector<RemoteCase> kCases = {
    {.name = "remote pull", .accesses = 20'000},
    {.name = "remote push", .push = true, .accesses = 20'000},
    {.name = "remote pull computing", .accesses = 1'000, .computing = true},
    {.name = "remote push computing", .push = true, .accesses = 1'000, .computing = true},
    {.name = "remote pull async", .accesses = 20'000, .in_flight = kInFlight},
    {.name = "remote push async", .push = true, .accesses = 20'000, .in_flight = kInFlight},
    {.name = "remote pull batch 10", .batch = 10, .accesses = 100'000},
    {.name = "remote push batch 10", .push = true, .batch = 10, .accesses = 100'000},
    {.name = "remote pull batch 100", .batch = 100, .accesses = 200'000},
    {.name = "remote push batch 100", .push = true, .batch = 100, .accesses = 200'000},
    {.name = "remote pull batch 1000", .batch = 1000, .accesses = 300'000},
    {.name = "remote push batch 1000", .push = true, .batch = 1000, .accesses = 300'000},
    {.name = "remote pull batch 10000", .batch = 10'000, .accesses = 300'000},
    {.name = "remote push batch 10000", .push = true, .batch = 10'000, .accesses = 300'000},
    {.name = "remote pull batch 100 async", .batch = 100, .accesses = 100'000, .in_flight = 10},
    {.name = "remote push batch 100 async", .push = true, .batch = 100, .accesses = 100'000, .in_flight = 10},
};

class RemoteAccess {
 public:
  explicit RemoteAccess(Bench& bench)
      : bench_(bench),
        server_(MPI_COMM_WORLD, separate_options()),
        table_(server_.create_table<float>(
            {.name = "access", .keys = 2 * kKeys, .length = kLength, .home = HomeMapKind::range})),
        finished_(
            server_.create_table<std::int64_t>({.name = "finished", .keys = 2, .home = HomeMapKind::range})),
        plain_exchange_(bench.plain(), kKeys, kKeys) {}

  void measure(const RemoteCase& what) {
    const std::size_t accesses =
        bench_.size(what.accesses, what.batch * std::max<std::size_t>(10, what.in_flight));
    const std::vector<Key> keys = random_keys(kKeys, kKeys, accesses, 0);
    const bool rate = what.batch > 1 || what.in_flight > 1;
    // The case's figure from the seconds of a run.
    const auto figure = [&](double seconds) {
      const auto count = static_cast<double>(accesses);
      return rate ? count / seconds : 1e9 * seconds / count;
    };
    const Case row{.name = what.name,
                   .metric = rate ? "rate" : "latency",
                   .unit = rate ? "keys/s" : "ns",
                   .ranks = 2,
                   .domain = domain_of(server_.options())};
    const auto value = [&] { return figure(run(what, keys, what.in_flight)); };
    const auto plain = [&] { return figure(plain_run(what, keys)); };
    const char* const baseline_name = what.by_hand() ? "exchange by hand" : "MPI ping-pong";
    if (what.in_flight == 1) {
      bench_.measure(row, kRuns, value, baseline_name, plain);
    } else {
      bench_.measure_with_waiting(row, kRuns, value, baseline_name, plain,
                                  [&] { return figure(run(what, keys, 1)); });
    }
  }

  void close() {
    const TableCounters total = server_.statistics().table_total(table_.id());
    server_.close();
    expect_count("remote accesses", total.remote_pulls + total.remote_pushes, expected_);
  }

 private:
  static MessagePair payload(const RemoteCase& what) {
    if (what.push) return {what.batch * (kKeyBytes + kValueBytes), kKeyBytes};
    return {what.batch * kKeyBytes, what.batch * kValueBytes};
  }

  // Collective. Returns the seconds of rank 0 for the keys.
  double plain_run(const RemoteCase& what, std::span<const Key> keys) {
    if (what.by_hand()) {
      return what.push ? plain_exchange_.push(keys, what.batch) : plain_exchange_.pull(keys, what.batch);
    }
    const MessagePair messages = payload(what);
    const std::size_t calls = keys.size() / what.batch;
    if (what.in_flight == 1) return ping_pong(bench_.plain(), calls, messages);
    double seconds = 0;
    for (std::size_t done = 0; done < calls; done += what.in_flight) {
      seconds += pipelined_ping_pong(bench_.plain(), what.in_flight, messages);
    }
    return seconds;
  }

  // Collective. Returns the seconds of rank 0 for all keys.
  double run(const RemoteCase& what, std::span<const Key> keys, std::size_t in_flight) {
    double seconds = 0;
    ++runs_;
    expected_ += keys.size();
    server_.run_workers(1, [&](Worker& worker) {
      worker.barrier();
      if (worker.rank() == Rank(0)) {
        seconds = access_all(worker, what, keys, in_flight);
        worker.push(finished_, kFinished, std::array<std::int64_t, 1>{1});
      } else if (what.computing) {
        compute_until_finished(worker);
      }
      worker.barrier();
    });
    return seconds;
  }

  double access_all(Worker& worker, const RemoteCase& what, std::span<const Key> keys,
                    std::size_t in_flight) {
    const std::size_t floats = what.batch * kLength;
    std::vector<float> values(in_flight * floats, 1.0F);
    std::vector<Operation> operations;
    operations.reserve(in_flight);
    const Clock::time_point begin = Clock::now();
    while (!keys.empty()) {
      for (std::size_t call = 0; call < in_flight; ++call) {
        const std::span<float> rows = std::span(values).subspan(call * floats, floats);
        if (what.push && what.by_hand()) renew_updates(rows);
        operations.push_back(what.push ? worker.push(table_, keys.first(what.batch), rows)
                                       : worker.pull(table_, keys.first(what.batch), rows));
        keys = keys.subspan(what.batch);
      }
      for (Operation& operation : operations) operation.wait();
      operations.clear();
    }
    return seconds_between(begin, Clock::now());
  }

  void compute_until_finished(Worker& worker) {
    constexpr int kStepsBetweenPolls = 10'000;
    std::array<std::int64_t, 1> finished{};
    double value = 0;
    while (finished[0] < runs_) {
      for (int step = 0; step < kStepsBetweenPolls; ++step) value = value * 0.5 + 1;
      touch(&value);
      if (worker.pull_if_local(finished_, kFinished, finished)) continue;
      // With a full /dev/shm it never becomes local.
      if (worker.locality(finished_, kFinished) == Locality::private_to_neighbour)
        worker.pull(finished_, kFinished, finished).wait();
    }
  }

  Bench& bench_;
  ParameterServer server_;
  Table<float> table_;
  Table<std::int64_t> finished_;
  PlainExchange plain_exchange_;
  std::int64_t runs_ = 0;
  std::uint64_t expected_ = 0;
};

}  // namespace

void measure_remote_access(Bench& bench) {
  RemoteAccess access(bench);
  for (const RemoteCase& what : kCases) {
    if (bench.selected(what.name)) access.measure(what);
  }
  access.close();
}

}  // namespace lapse::bench

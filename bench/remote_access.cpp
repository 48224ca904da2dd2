#include "bench/remote_access.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;  // those that are accessed: the upper half, whose home is rank 1
constexpr std::size_t kRuns = 20;

// Of the table `finished`, at rank 1: how often rank 0 has finished a run.
constexpr Key kFinished(1);

struct RemoteCase {
  std::string name;
  bool push;
  std::size_t batch;     // keys in a call
  std::size_t accesses;  // keys in a run
  bool computing;        // the other rank does not wait in the server
};

const std::vector<RemoteCase> kCases = {
    {"remote pull", false, 1, 20'000, false},
    {"remote push", true, 1, 20'000, false},
    {"remote pull computing", false, 1, 1'000, true},
    {"remote pull batch 100", false, 100, 100'000, false},
    {"remote push batch 100", true, 100, 100'000, false},
};

class RemoteAccess {
 public:
  explicit RemoteAccess(Bench& bench)
      : bench_(bench),
        server_(MPI_COMM_WORLD, quiet_options()),
        table_(server_.create_table<float>(
            {.name = "access", .keys = 2 * kKeys, .length = kLength, .home = HomeMapKind::range})),
        finished_(
            server_.create_table<std::int64_t>({.name = "finished", .keys = 2, .home = HomeMapKind::range})) {
  }

  void measure(const RemoteCase& what) {
    const std::size_t accesses = bench_.size(what.accesses, 10 * what.batch);
    const std::vector<Key> keys = random_keys(kKeys, kKeys, accesses, 0);
    const MessagePair messages = payload(what);
    const std::size_t rounds = accesses / what.batch;
    const bool rate = what.batch > 1;
    // From the seconds of a run.
    const auto figure = [&](double seconds) {
      const auto count = static_cast<double>(accesses);
      return rate ? count / seconds : 1e9 * seconds / count;
    };
    bench_.measure(
        {what.name, rate ? "rate" : "latency", rate ? "keys/s" : "ns", 2, 1}, kRuns,
        [&] { return figure(run(what, keys)); }, "MPI ping-pong",
        [&] { return figure(ping_pong(bench_.plain(), rounds, messages)); });
    expected_ += (bench_.runs(kRuns) + 1) * accesses;
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

  // Collective. Seconds of rank 0 for all keys.
  double run(const RemoteCase& what, std::span<const Key> keys) {
    double seconds = 0;
    ++runs_;
    server_.run_workers(1, [&](Worker& worker) {
      worker.barrier();
      if (worker.rank() == Rank(0)) {
        seconds = access_all(worker, what, keys);
        worker.push(finished_, kFinished, std::array<std::int64_t, 1>{1});
      } else if (what.computing) {
        compute_until_finished(worker);
      }
      worker.barrier();
    });
    return seconds;
  }

  double access_all(Worker& worker, const RemoteCase& what, std::span<const Key> keys) {
    std::vector<float> values(what.batch * kLength, 1.0F);
    const Clock::time_point begin = Clock::now();
    for (; !keys.empty(); keys = keys.subspan(what.batch)) {
      const std::span<const Key> batch = keys.first(what.batch);
      if (what.push) {
        worker.push(table_, batch, values).wait();
      } else {
        worker.pull(table_, batch, values).wait();
      }
    }
    return seconds_between(begin, Clock::now());
  }

  void compute_until_finished(Worker& worker) {
    constexpr int kStepsBetweenLooks = 10'000;
    std::array<std::int64_t, 1> finished{};
    double value = 0;
    while (finished[0] < runs_) {
      for (int step = 0; step < kStepsBetweenLooks; ++step) value = value * 0.5 + 1;
      touch(&value);
      worker.pull_if_local(finished_, kFinished, finished);
    }
  }

  Bench& bench_;
  ParameterServer server_;
  Table<float> table_;
  Table<std::int64_t> finished_;
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

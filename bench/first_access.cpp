#include "bench/first_access.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/support/hosts.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 10;

// Key of the table `finished`, at rank 2: its value is the number of runs that rank 0 has finished.
constexpr Key kFinished(2);

struct FirstCase {
  std::string name;
  std::size_t batch;       // keys in a call
  std::size_t calls;       // in a run
  bool computing = false;  // whether the home computes instead of waiting in the server
};

const std::vector<FirstCase> kCases = {
    {.name = "first pull", .batch = 1, .calls = 1000},
    {.name = "first pull computing", .batch = 1, .calls = 200, .computing = true},
    {.name = "first pull batch 8", .batch = 8, .calls = 200},
};

// A server whose rank 0 pulls keys from rank 1 without knowing that rank 1 owns them; their home is rank 2.
class FirstAccess {
 public:
  FirstAccess(const FirstCase& what, RmaChoice rma, std::size_t calls, std::size_t runs)
      : what_(what),
        keys_of_run_(calls * what.batch),
        server_(MPI_COMM_WORLD, options(rma)),
        table_(server_.create_table<float>({.name = "first",
                                            .keys = 3 * runs * keys_of_run_,
                                            .length = kLength,
                                            .home = HomeMapKind::range})),
        finished_(
            server_.create_table<std::int64_t>({.name = "finished", .keys = 3, .home = HomeMapKind::range})),
        keys_(shuffled_keys(2 * runs * keys_of_run_, runs * keys_of_run_, 0)) {
    server_.run_workers(1, [&](Worker& worker) {
      if (worker.rank() == Rank(1)) worker.localize(table_, keys_).wait();
    });
  }

  // Collective. Pulls the next keys. Returns the microseconds of a call on rank 0.
  double run() {
    const std::span<const Key> keys = std::span(keys_).subspan(runs_ * keys_of_run_, keys_of_run_);
    ++runs_;
    double seconds = 0;
    server_.run_workers(1, [&](Worker& worker) {
      worker.barrier();
      if (worker.rank() == Rank(0)) {
        seconds = pull_all(worker, keys);
        worker.push(finished_, kFinished, std::array<std::int64_t, 1>{1});
      } else if (worker.rank() == Rank(2) && what_.computing) {
        compute_until_finished(worker);
      }
      worker.barrier();
    });
    return 1e6 * seconds * static_cast<double>(what_.batch) / static_cast<double>(keys.size());
  }

  // Collective.
  void close(bool lookups) {
    const TableCounters total = server_.statistics().table_total(table_.id());
    server_.close();
    expect_count("owner lookups", total.owner_lookups, lookups ? runs_ * keys_of_run_ : 0);
    expect_count("accesses forwarded by the home", total.forwarded, lookups ? 0 : runs_ * keys_of_run_);
  }

 private:
  static Options options(RmaChoice rma) {
    Options options = separate_options();
    options.rma = rma;
    return options;
  }

  double pull_all(Worker& worker, std::span<const Key> keys) {
    std::vector<float> values(what_.batch * kLength);
    const Clock::time_point begin = Clock::now();
    for (; !keys.empty(); keys = keys.subspan(what_.batch))
      worker.pull(table_, keys.first(what_.batch), values).wait();
    return seconds_between(begin, Clock::now());
  }

  void compute_until_finished(Worker& worker) {
    constexpr int kStepsBetweenPolls = 10'000;
    std::array<std::int64_t, 1> finished{};
    double value = 0;
    while (finished[0] < static_cast<std::int64_t>(runs_)) {
      for (int step = 0; step < kStepsBetweenPolls; ++step) value = value * 0.5 + 1;
      touch(&value);
      if (worker.pull_if_local(finished_, kFinished, finished)) continue;
      // If /dev/shm is full, it never becomes local.
      if (worker.locality(finished_, kFinished) == Locality::private_to_neighbour)
        worker.pull(finished_, kFinished, finished).wait();
    }
  }

  const FirstCase what_;
  const std::size_t keys_of_run_;
  ParameterServer server_;
  Table<float> table_;
  Table<std::int64_t> finished_;
  std::vector<Key> keys_;
  std::size_t runs_ = 0;
};

}  // namespace

void measure_first_access(Bench& bench) {
  const std::string where = on_different_hosts(bench.plain()) ? "tcp " : "";
  for (const FirstCase& what : kCases) {
    if (!bench.selected(where + what.name)) continue;
    const std::size_t calls = bench.size(what.calls, 3);
    const std::size_t runs = bench.runs(kRuns) + 1;
    FirstAccess by_lookup(what, RmaChoice::on, calls, runs);
    FirstAccess by_home(what, RmaChoice::off, calls, runs);
    bench.measure(
        {.name = where + what.name, .metric = "latency", .unit = "us", .ranks = 3, .domain = "rank"}, kRuns,
        [&] { return by_lookup.run(); }, "by the home", [&] { return by_home.run(); });
    by_lookup.close(true);
    by_home.close(false);
  }
}

}  // namespace lapse::bench

#include "bench/pipeline_cases.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bench/batch_computation.hpp"
#include "bench/plain_move_pipeline.hpp"
#include "bench/plain_pipeline.hpp"
#include "bench/support/hosts.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 20;
constexpr std::size_t kBatch = 100;  // keys
constexpr std::size_t kBatches = 2'000;
constexpr std::size_t kTurns = 10;
constexpr std::size_t kAhead[] = {1, 4, 16};
constexpr double kComputation = 20e-6;  // seconds
// Those of the cases `remote` are the upper half of their table, whose home is rank 1.
constexpr std::uint64_t kRemoteKeys = 10'000;

// The batches of a worker, of which `ahead` are in flight while it computes one.
class Pipeline {
 public:
  Pipeline(Worker& worker, const Table<float>& table, const BatchComputation& computation,
           const PipelineWork& work)
      : worker_(worker), table_(table), computation_(computation), work_(work), updates_(kBatch * kLength) {}

  // Returns the seconds.
  double pull_ahead() {
    const std::size_t in_flight = work_.ahead + 1;
    std::vector<float> values(in_flight * updates_.size());
    std::vector<Operation> pulls(in_flight);
    const auto values_of = [&](std::size_t batch) {
      return std::span(values).subspan(batch % in_flight * updates_.size(), updates_.size());
    };
    const auto pull = [&](std::size_t batch) {
      if (batch < batches())
        pulls[batch % in_flight] = worker_.pull(table_, keys_of(batch), values_of(batch));
    };
    const Clock::time_point begin = Clock::now();
    for (std::size_t batch = 0; batch < work_.ahead; ++batch) pull(batch);
    for (std::size_t batch = 0; batch < batches(); ++batch) {
      pull(batch + work_.ahead);
      pulls[batch % in_flight].wait();
      computation_.compute(values_of(batch), updates_);
      worker_.push(table_, keys_of(batch), updates_);
    }
    worker_.wait_all();
    return seconds_between(begin, Clock::now());
  }

  // Returns the seconds.
  double localize_ahead() {
    std::vector<float> values(updates_.size());
    const auto localize = [&](std::size_t batch) {
      if (batch < batches()) worker_.localize(table_, keys_of(batch));
    };
    const Clock::time_point begin = Clock::now();
    for (std::size_t batch = 0; batch < work_.ahead; ++batch) localize(batch);
    for (std::size_t batch = 0; batch < batches(); ++batch) {
      localize(batch + work_.ahead);
      worker_.pull(table_, keys_of(batch), values).wait();
      computation_.compute(values, updates_);
      worker_.push(table_, keys_of(batch), updates_);
    }
    worker_.wait_all();
    return seconds_between(begin, Clock::now());
  }

 private:
  std::size_t batches() const { return work_.keys.size() / kBatch; }
  std::span<const Key> keys_of(std::size_t batch) const { return work_.keys.subspan(batch * kBatch, kBatch); }

  Worker& worker_;
  const Table<float>& table_;
  const BatchComputation& computation_;
  const PipelineWork& work_;
  std::vector<float> updates_;
};

// The seconds of a case's runs.
struct Timings {
  std::vector<double> values;
  std::vector<double> baselines;
  std::vector<double> alone;  // the computation
};

class Pipelines {
 public:
  Pipelines(Bench& bench, const Options& options)
      : bench_(bench),
        turns_(bench.size(kTurns, 2)),
        batches_(bench.size(kBatches, 2 * turns_ * std::ranges::max(kAhead))),
        moving_keys_(shuffled_keys(0, batches_ / turns_ * kBatch, 0)),
        remote_keys_(random_keys(kRemoteKeys, kRemoteKeys, batches_ * kBatch, 0)),
        computation_(kBatch * kLength),
        server_(MPI_COMM_WORLD, options),
        remote_(server_.create_table<float>(
            {.name = "remote", .keys = 2 * kRemoteKeys, .length = kLength, .home = HomeMapKind::range})),
        moving_(
            server_.create_table<float>({.name = "moving", .keys = moving_keys_.size(), .length = kLength})),
        plain_(bench.plain(), kRemoteKeys, kRemoteKeys, computation_),
        plain_move_(bench.plain(), moving_keys_.size(), computation_) {
    server_.run_workers(1, [&](Worker& worker) {
      if (worker.rank() == Rank(1)) worker.localize(moving_, moving_keys_).wait();
    });
    relocations_before_ = relocations();
  }

  // Collective.
  void measure_remote(const std::string& name, std::size_t ahead) {
    const PipelineWork work{remote_keys_, kBatch, ahead};
    measure(
        name, [&] { return run_remote(work); }, [&] { return plain_.run(work); });
    remote_batches_ += (bench_.runs(kRuns) + 1) * batches_;
  }

  // Collective.
  void measure_relocation(const std::string& name, std::size_t ahead) {
    const PipelineWork work{moving_keys_, kBatch, ahead};
    measure(
        name, [&] { return run_moving(work); }, [&] { return plain_move_.run(work, turns_); });
    moved_batches_ += (bench_.runs(kRuns) + 1) * batches_;
  }

  // Collective. Throws UsageError if an operation did not do what the cases expect, or an update was lost.
  void close() {
    const TableCounters remote = server_.statistics().table_total(remote_.id());
    const std::uint64_t moved = relocations() - relocations_before_;
    check_values();
    server_.close();
    expect_count("remote accesses", remote.remote_pulls + remote.remote_pushes, 2 * kBatch * remote_batches_);
    expect_count("relocations", moved, kBatch * moved_batches_);
  }

 private:
  // Collective. The functions return the seconds of a run.
  void measure(const std::string& name, const std::function<double()>& value,
               const std::function<double()>& baseline) {
    computation_.calibrate(bench_.plain(), kComputation);
    Timings timings;
    for (std::size_t run = 0; run <= bench_.runs(kRuns); ++run) {
      const double alone = computation_.time_alone(bench_.plain(), batches_);
      const double seconds = value();
      const double plain = bench_.baselines() ? baseline() : 0;
      if (run == 0) continue;  // to warm up
      timings.alone.push_back(alone);
      timings.values.push_back(seconds);
      if (bench_.baselines()) timings.baselines.push_back(plain);
    }
    add(name, timings);
  }

  void add(const std::string& name, const Timings& timings) {
    const auto batches = static_cast<double>(batches_);
    const auto add_figures = [&](const std::string& metric, const std::string& unit, const auto& figure) {
      const auto figures = [&](const std::vector<double>& seconds) {
        std::vector<double> all;
        for (std::size_t run = 0; run < seconds.size(); ++run) {
          all.push_back(figure(seconds[run], timings.alone[run]));
        }
        return all;
      };
      bench_.add(
          {.name = name, .metric = metric, .unit = unit, .ranks = 2, .domain = domain_of(server_.options())},
          "pipeline by hand", {figures(timings.values), figures(timings.baselines)});
    };
    add_figures("rate", "keys/s", [&](double seconds, double) { return batches * kBatch / seconds; });
    add_figures("batches", "batches/s", [&](double seconds, double) { return batches / seconds; });
    add_figures("overhead", "ns", [&](double seconds, double alone) {
      return std::max(1.0, 1e9 * (seconds - alone) / batches);
    });
    Series computations;
    for (const double alone : timings.alone) computations.values.push_back(1e9 * alone / batches);
    bench_.add({.name = name,
                .metric = "computation",
                .unit = "ns",
                .ranks = 2,
                .domain = domain_of(server_.options())},
               "", computations);
  }

  // Collective. Returns the seconds of rank 0.
  double run_remote(const PipelineWork& work) {
    double seconds = 0;
    server_.run_workers(1, [&](Worker& worker) {
      worker.barrier();
      if (worker.rank() == Rank(0)) seconds = Pipeline(worker, remote_, computation_, work).pull_ahead();
      worker.barrier();
    });
    return seconds;
  }

  // Collective. Returns the seconds of all turns.
  double run_moving(const PipelineWork& work) {
    double seconds = 0;
    server_.run_workers(1, [&](Worker& worker) {
      for (std::size_t turn = 0; turn < turns_; ++turn) {
        worker.barrier();
        if (worker.index() != turn % 2) continue;
        seconds += Pipeline(worker, moving_, computation_, work).localize_ahead();
      }
    });
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_SUM, bench_.plain());
    return seconds;
  }

  std::uint64_t relocations() { return server_.statistics().table_total(moving_.id()).relocations_in; }

  // Collective. Compares the sum of each table's values, all at rank 1, with its updates.
  void check_values() {
    double remote = 0;
    double moving = 0;
    server_.run_workers(1, [&](Worker& worker) {
      const auto add_to = [](double& sum) {
        return [&sum](Key, std::span<const float> value) {
          sum += std::accumulate(value.begin(), value.end(), 0.0);
        };
      };
      worker.for_each_local(remote_, add_to(remote));
      worker.for_each_local(moving_, add_to(moving));
    });
    if (bench_.rank() != 1) return;
    const auto expect_updates = [](std::string_view what, double sum, std::uint64_t batches) {
      expect_count(what, static_cast<std::uint64_t>(sum), batches * kBatch * kLength);
    };
    expect_updates("updates of remote values", remote, remote_batches_);
    expect_updates("updates of moving values", moving, moved_batches_);
    if (!bench_.baselines()) return;
    expect_updates("updates of remote rows", plain_.sum(), remote_batches_);
    expect_updates("updates of moving rows", plain_move_.sum(), moved_batches_);
  }

  Bench& bench_;
  std::size_t turns_;    // of the cases `relocation`, in a run
  std::size_t batches_;  // in a run
  std::vector<Key> moving_keys_;
  std::vector<Key> remote_keys_;
  BatchComputation computation_;
  ParameterServer server_;
  Table<float> remote_;
  Table<float> moving_;
  PlainPipeline plain_;
  PlainMovePipeline plain_move_;
  std::uint64_t relocations_before_ = 0;
  std::uint64_t remote_batches_ = 0;
  std::uint64_t moved_batches_ = 0;
};

}  // namespace

void measure_pipelines(Bench& bench) {
  const bool between_hosts = on_different_hosts(bench.plain());
  Pipelines pipelines(bench, between_hosts ? quiet_options() : separate_options());
  for (const bool moving : {false, true}) {
    for (const std::size_t ahead : kAhead) {
      const std::string name =
          fmt::format("{}{} {} ahead", between_hosts ? "tcp " : "", moving ? "relocation" : "remote", ahead);
      if (!bench.selected(name)) continue;
      if (moving) {
        pipelines.measure_relocation(name, ahead);
      } else {
        pipelines.measure_remote(name, ahead);
      }
    }
  }
  pipelines.close();
}

}  // namespace lapse::bench

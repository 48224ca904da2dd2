#include "bench/sampling_cases.hpp"

#include <mpi.h>

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "adapm/sampling/distinct_draws.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

using adapm::Distribution;
using adapm::SamplingOptions;
using adapm::SamplingScheme;

constexpr std::uint64_t kKeys = 100'000;
constexpr std::size_t kSampleKeys = 50;
constexpr std::int64_t kAhead = 200;
constexpr std::size_t kRuns = 7;

Distribution::Shared zipf_distribution(std::uint64_t keys, double exponent = 0.75) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t key = 0; key < keys; ++key) counts.push_back(100'000'000 / (key + 1));
  return Distribution::by_frequency(counts, exponent);
}

// --- draws alone

template <class F>
double nanoseconds_per_draw(std::size_t draws, F&& draw) {
  std::vector<Key> keys(kSampleKeys);
  RandomEngine random(1);
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < draws; i += kSampleKeys) {
    draw(random, keys);
    touch(keys.data());
  }
  return 1e9 * seconds_between(begin, Clock::now()) / static_cast<double>(draws);
}

void measure_draws(Bench& bench) {
  const std::uint64_t keys = bench.size(kKeys, 100);
  const std::size_t draws = bench.size(2'000'000, 1'000);
  const auto weights = zipf_distribution(keys);
  adapm::DistinctDraws distinct;
  const auto measure = [&](const std::string& name, const Distribution& distribution, bool all_different) {
    if (!bench.selected(name)) return;
    bench.measure(
        {.name = name, .metric = "latency", .unit = "ns"}, kRuns,
        [&] {
          return nanoseconds_per_draw(draws, [&](RandomEngine& random, std::vector<Key>& to) {
            if (!all_different) return distribution.draw(random, to);
            distinct.clear();
            for (Key& key : to) key = distinct.draw(distribution, random);
          });
        },
        "numbers from a range",
        [&] {
          return nanoseconds_per_draw(draws, [&](RandomEngine& random, std::vector<Key>& to) {
            for (Key& key : to) key = Key(random.below(keys));
          });
        });
  };
  measure("draw uniform", *Distribution::uniform({Key(0), Key(keys)}), false);
  measure("draw log-uniform", *Distribution::log_uniform({Key(0), Key(keys)}), false);
  measure("draw weights", *weights, false);
  measure("draw weights distinct", *weights, true);
}

// --- samples of a manager

struct SchemeCase {
  const char* name;
  SamplingOptions options;
  bool data = false;  // The workers also announce keys.
};

std::vector<SchemeCase> scheme_cases() {
  return {{"naive", {.scheme = SamplingScheme::naive}},
          {"naive distinct", {.scheme = SamplingScheme::naive, .with_replacement = false}},
          {"prelocalised", {.scheme = SamplingScheme::prelocalised}},
          {"pool", {.scheme = SamplingScheme::pool}},
          {"local", {.scheme = SamplingScheme::local}},
          {"local distinct", {.scheme = SamplingScheme::local, .with_replacement = false}},
          {"local with data", {.scheme = SamplingScheme::local}, true}};
}

adapm::Options manager_options() {
  adapm::Options options = adapm::Options::from_environment();
  options.server = separate_options();
  return options;
}

// One object on each rank: a manager with a table of keys and the distribution of samples.
class SampledTable {
 public:
  explicit SampledTable(std::uint64_t keys)
      : manager_(MPI_COMM_WORLD, manager_options()),
        table_(manager_.create_table<float>({.name = "sampled", .keys = keys, .length = kLength})),
        distribution_(zipf_distribution(keys)),
        data_(zipf_distribution(keys, 1)) {}

  const Distribution& distribution() const { return *distribution_; }
  Case result(const std::string& name, const char* metric, const char* unit) const {
    return {.name = name,
            .metric = metric,
            .unit = unit,
            .ranks = manager_.ranks(),
            .workers = manager_.ranks(),
            .domain = domain_of(manager_.options().server)};
  }
  adapm::Sampler<float> sampler(const SamplingOptions& options) {
    return manager_.create_sampler(table_, distribution_, options);
  }
  TableCounters counted() { return manager_.statistics().server.table_total(table_.id()); }
  void close() { manager_.close(); }

  // Collective. Calls `use` with each sample in its clock. Returns the seconds of rank 0 after the warm-up
  // samples.
  template <class F>
  double run(const adapm::Sampler<float>& sampler, bool data, std::size_t warm_up, std::size_t samples,
             F&& use) {
    double seconds = 0;
    manager_.run_workers(1, [&](adapm::IntentWorker& worker) {
      RandomEngine random(3, worker.index());
      std::vector<Key> others(kSampleKeys);
      std::deque<adapm::PreparedSample<float>> prepared;
      const std::int64_t begin = worker.current_clock().value();
      std::int64_t next = begin;
      Clock::time_point start = Clock::now();
      for (std::size_t i = 0; i < warm_up + samples; ++i) {
        if (i == warm_up) {
          worker.barrier();
          start = Clock::now();
        }
        const std::int64_t now = begin + static_cast<std::int64_t>(i);
        for (; next <= now + kAhead; ++next) {
          if (data) {
            data_->draw(random, others);
            worker.intent(table_, others, lapse::Clock(next), lapse::Clock(next + 1));
          }
          prepared.push_back(
              worker.prepare_sample(sampler, kSampleKeys, lapse::Clock(next), lapse::Clock(next + 1)));
        }
        use(worker, prepared.front());
        prepared.pop_front();
        worker.advance_clock();
      }
      seconds = seconds_between(start, Clock::now());
    });
    return seconds;
  }

  // Collective. The same loop with keys drawn in advance, not announced.
  double run_drawn(const std::vector<Key>& keys) {
    double seconds = 0;
    manager_.run_workers(1, [&](adapm::IntentWorker& worker) {
      std::vector<float> values(kSampleKeys * kLength);
      worker.barrier();
      const Clock::time_point start = Clock::now();
      for (std::size_t first = 0; first < keys.size(); first += kSampleKeys)
        worker.pull(table_, std::span(keys).subspan(first, kSampleKeys), values).wait();
      seconds = seconds_between(start, Clock::now());
    });
    return seconds;
  }

 private:
  adapm::ParameterManager manager_;
  Table<float> table_;
  Distribution::Shared distribution_;
  Distribution::Shared data_;
};

// --- cost

class SchemeMeasurement {
 public:
  SchemeMeasurement(Bench& bench, SampledTable& table)
      : bench_(bench), table_(table), samples_(bench.size(2'000, 20)), warm_up_(bench.size(500, 5)) {
    RandomEngine random(2, static_cast<std::uint64_t>(bench.rank()));
    drawn_.resize(samples_ * kSampleKeys);
    table.distribution().draw(random, drawn_);
  }

  void measure(const std::string& name, const SchemeCase& scheme) {
    const auto sampler = table_.sampler(scheme.options);
    const double keys = static_cast<double>(samples_ * kSampleKeys);
    Series local;
    const auto what = [&](const char* metric, const char* unit) { return table_.result(name, metric, unit); };
    std::vector<Key> to(kSampleKeys);
    std::vector<float> values(kSampleKeys * kLength);
    bench_.measure(
        what("latency", "ns"), kRuns,
        [&] {
          const TableCounters before = table_.counted();
          const double seconds = table_.run(sampler, scheme.data, warm_up_, samples_,
                                            [&](adapm::IntentWorker& worker, auto& sample) {
                                              worker.pull_sample(sample, to, values).wait();
                                            });
          const TableCounters after = table_.counted();
          const auto in_memory = static_cast<double>(after.local_pulls - before.local_pulls);
          const auto others = static_cast<double>(after.remote_pulls - before.remote_pulls +
                                                  after.queued_accesses - before.queued_accesses);
          local.values.push_back(100 * in_memory / (in_memory + others));
          return 1e9 * seconds / keys;
        },
        "keys drawn beforehand", [&] { return 1e9 * table_.run_drawn(drawn_) / keys; });
    if (bench_.ranks() == 1) return;
    bench_.add(what("local", "%"), "", local);
  }

 private:
  Bench& bench_;
  SampledTable& table_;
  const std::size_t samples_;
  const std::size_t warm_up_;
  std::vector<Key> drawn_;
};

// --- effect on the distribution

// Half the sum of the differences between shares and probabilities, in percent.
double distance(const std::vector<double>& counts, const Distribution& distribution) {
  double sum = 0;
  for (const double count : counts) sum += count;
  double distance = 0;
  for (const auto& [key, probability] : distribution.probabilities())
    distance += std::abs(counts[key.index()] / sum - probability);
  return 50 * distance;
}

void measure_distance(Bench& bench, SampledTable& table, const SchemeCase& what) {
  const auto sampler = table.sampler(what.options);
  std::vector<double> counts(table.distribution().support());
  std::vector<Key> keys(kSampleKeys);
  table.run(sampler, what.data, 0, bench.size(20'000, 20), [&](adapm::IntentWorker& worker, auto& sample) {
    worker.take_keys(sample, keys);
    for (const Key key : keys) ++counts[key.index()];
  });
  std::vector<double> all(counts.size());
  MPI_Allreduce(counts.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, bench.plain());
  bench.add(table.result(what.name, "distance", "%"), "",
            {.values = {distance(counts, table.distribution())}, .baselines = {}});
  bench.add(table.result(what.name, "distance of all", "%"), "",
            {.values = {distance(all, table.distribution())}, .baselines = {}});
}

}  // namespace

void measure_sampling(Bench& bench) {
  if (bench.ranks() == 1) measure_draws(bench);
  for (const SchemeCase& what : scheme_cases()) {
    std::string name = what.name;
    if (bench.ranks() == 1) name += " in memory";
    if (!bench.selected(name)) continue;
    // The keys of each case start at their homes.
    SampledTable table(bench.size(kKeys, 1'000));
    SchemeMeasurement(bench, table).measure(name, what);
    table.close();
    if (bench.ranks() == 1) continue;
    SampledTable small(bench.size(2'000, 100));
    measure_distance(bench, small, what);
    small.close();
  }
}

}  // namespace lapse::bench

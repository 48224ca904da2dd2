#include "bench/intent_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/intent_loop.hpp"
#include "bench/support/hosts.hpp"

namespace lapse::bench {

namespace {

using adapm::Technique;

constexpr std::uint64_t kKeys = 100'000;
constexpr std::size_t kDrawnClocks = 20'000;
constexpr std::size_t kRuns = 7;

struct IntentCase {
  std::string name;  // without the distribution
  Technique technique = Technique::adaptive;
  std::optional<std::size_t> ahead = {};
};

std::vector<IntentCase> cases_on_one_host() {
  std::vector<IntentCase> cases{{.name = "no intent"}};
  for (const std::size_t ahead : {0, 10, 100, 1'000, 10'000, 100'000}) {
    const std::string name = fmt::format("ahead {}", ahead);
    cases.push_back({name, Technique::adaptive, ahead});
    if (ahead != 0) cases.push_back({name + " immediate", Technique::immediate, ahead});
    if (ahead == 10) cases.push_back({name + " localize", Technique::localize, ahead});
    if (ahead != 100 && ahead != 1'000) continue;
    cases.push_back({name + " relocation only", Technique::relocation_only, ahead});
    cases.push_back({name + " replication only", Technique::replication_only, ahead});
    cases.push_back({name + " nups", Technique::nups, ahead});
    cases.push_back({name + " localize", Technique::localize, ahead});
    if (ahead != 100) continue;
    cases.push_back({name + " full replication", Technique::full_replication, ahead});
    cases.push_back({name + " static partitioning", Technique::static_partitioning, ahead});
  }
  return cases;
}

std::vector<IntentCase> cases_between_hosts() {
  return {{.name = "no intent"},
          {"ahead 100", Technique::adaptive, 100},
          {"ahead 1000", Technique::adaptive, 1'000},
          {"ahead 1000 relocation only", Technique::relocation_only, 1'000},
          {"ahead 1000 replication only", Technique::replication_only, 1'000}};
}

// Metrics besides the rate, in the order of the page.
constexpr std::array kMetrics{"cpu",    "local", "local operations", "bytes", "relocations",
                              "copies", "round", "staleness"};
constexpr std::array<const char*, kMetrics.size()> kUnits{"ns",       "%",        "%",      "bytes",
                                                          "per 1000", "per 1000", "clocks", "versions"};

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

struct Measurement {
  const IntentCase* what = nullptr;
  std::string name;
  LoopRun run = {};
  Series rates = {};
  std::array<Series, kMetrics.size()> others = {};
};

// All cases of a distribution. One object on each rank.
class IntentCases {
 public:
  IntentCases(Bench& bench, KeyDistribution distribution, std::string prefix)
      : bench_(bench),
        distribution_(distribution),
        prefix_(std::move(prefix) + (distribution == KeyDistribution::uniform ? "uniform " : "zipf ")) {}

  void measure(const std::vector<IntentCase>& cases) {
    std::vector<Measurement> measurements;
    for (const IntentCase& one : cases) {
      if (bench_.selected(prefix_ + one.name))
        measurements.push_back({.what = &one, .name = prefix_ + one.name});
    }
    if (measurements.empty()) return;
    const LoopKeys keys(distribution_, bench_.size(kKeys, 1'000), bench_.size(kDrawnClocks, 100), workers());
    keys_ = &keys;
    for (Measurement& one : measurements) prepare(one);
    LocalLoop local(server_options(), keys);
    const std::size_t local_clocks = bench_.size(20'000, 20);
    if (bench_.baselines()) local.run(local_clocks);
    for (std::size_t run = 0; run < bench_.runs(kRuns); ++run) {
      for (Measurement& one : measurements) {
        measure_once(one);
        if (bench_.baselines()) one.rates.baselines.push_back(local.run(local_clocks).rate(workers()));
      }
    }
    for (const Measurement& one : measurements) add(one);
    local.close();
    for (auto& [technique, loop] : loops_) loop->close();
    loops_.clear();
  }

 private:
  std::size_t workers() const { return bench_.workers() * static_cast<std::size_t>(bench_.ranks()); }

  static Options server_options() {
    return std::getenv("LAPSE_DOMAIN") != nullptr ? quiet_options() : separate_options();
  }

  IntentLoop& loop(Technique technique) {
    std::unique_ptr<IntentLoop>& loop = loops_[technique];
    if (loop == nullptr) {
      adapm::Options options = adapm::Options::from_environment();
      options.server = server_options();
      options.technique = technique;
      loop = std::make_unique<IntentLoop>(options, *keys_);
    }
    return *loop;
  }

  // Determines the number of clocks of a run, and warms up.
  void prepare(Measurement& one) {
    constexpr double kSeconds = 0.4;
    one.run.ahead = one.what->ahead;
    if (one.run.ahead) one.run.ahead = bench_.size(*one.run.ahead, std::min<std::size_t>(*one.run.ahead, 20));
    one.run.warm_up = one.run.clocks = bench_.size(1'000, 20);
    const double seconds = loop(one.what->technique).run(one.run).seconds;
    const double fitting = kSeconds / seconds * static_cast<double>(one.run.clocks);
    one.run.clocks = bench_.size(static_cast<std::size_t>(std::clamp(fitting, 200.0, 20'000.0)), 20);
    one.run.warm_up = std::max<std::size_t>(one.run.clocks / 5, 10);
  }

  void measure_once(Measurement& one) {
    IntentLoop& loop = this->loop(one.what->technique);
    const adapm::Statistics before = loop.statistics();
    const LoopResult result = loop.run(one.run);
    const adapm::Statistics after = loop.statistics();
    one.rates.values.push_back(result.rate(workers()));

    const TableCounters a = before.server.table_total(loop.table().id());
    const TableCounters b = after.server.table_total(loop.table().id());
    const auto counted = [](auto now, auto then) { return static_cast<double>(now - then); };
    const adapm::IntentCounters from = before.intents.total();
    const adapm::IntentCounters to = after.intents.total();
    const double bytes = counted(after.server.rank_total().bytes_sent, before.server.rank_total().bytes_sent);
    const double keys = static_cast<double>((one.run.warm_up + one.run.clocks) * kKeysPerClock * workers());
    const std::array<double, kMetrics.size()> values{
        2e9 * result.cpu_seconds / result.keys,
        100 * ratio(result.local_keys, result.keys),
        100 * ratio(result.local_operations, result.operations),
        bytes / keys,
        1000 * counted(b.relocations_in, a.relocations_in) / keys,
        1000 * counted(b.copies_out, a.copies_out) / keys,
        ratio(counted(to.clocks, from.clocks), counted(to.advances, from.advances)),
        ratio(counted(b.missed_versions, a.missed_versions), counted(b.refreshes_in, a.refreshes_in))};
    for (std::size_t i = 0; i < values.size(); ++i) one.others[i].values.push_back(values[i]);
  }

  void add(const Measurement& one) {
    Case what{.name = one.name,
              .metric = "rate",
              .unit = "keys/s",
              .ranks = bench_.ranks(),
              .workers = static_cast<std::int32_t>(workers()),
              .domain = domain_of(server_options())};
    bench_.add(what, "local keys, no management", one.rates);
    for (std::size_t i = 0; i < kMetrics.size(); ++i) {
      what.metric = kMetrics[i];
      what.unit = kUnits[i];
      bench_.add(what, "", one.others[i]);
    }
  }

  Bench& bench_;
  const KeyDistribution distribution_;
  const std::string prefix_;
  const LoopKeys* keys_ = nullptr;
  std::map<Technique, std::unique_ptr<IntentLoop>> loops_;
};

}  // namespace

void measure_intent(Bench& bench) {
  const bool tcp = bench.ranks() > 1 && on_different_hosts(bench.plain());
  for (const KeyDistribution distribution : {KeyDistribution::uniform, KeyDistribution::zipf}) {
    IntentCases(bench, distribution, tcp ? "tcp " : "")
        .measure(tcp ? cases_between_hosts() : cases_on_one_host());
  }
}

}  // namespace lapse::bench

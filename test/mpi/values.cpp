// Tables that bound how much replicas may lack, over MPI.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/elements.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using adapm::IntentWorker;
using adapm::ParameterManager;
using adapm::Technique;
using lapse::Clock;
using lapse::Consistency;
using lapse::Key;
using lapse::Table;
using lapse::ValueBound;
using lapse::Worker;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::options_of;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 6;

std::size_t ranks_of_world() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return static_cast<std::size_t>(ranks);
}

// Each worker counts its pushes to a key, in a table that shows all: before each push to the bounded table,
// those that are answered. What another worker reads afterwards lacks at most `bound` of them.
class BoundedHistory {
 public:
  BoundedHistory(const Table<double>& bounded, const Table<std::int64_t>& answered, const ValueBound& bound)
      : bounded_(bounded), answered_(answered), bound_(bound) {}

  void run(IntentWorker& worker, int steps, bool moves) const {
    std::mt19937_64 random(worker.index() + 11);
    std::vector<double> unit(worker.count());
    std::vector<double> value(worker.count());
    unit[worker.index()] = 1;
    const std::int64_t one = 1;
    for (int step = 0; step < steps; ++step) {
      const Key key(random() % kKeys);
      if (random() % 4 == 0) {
        const std::int64_t now = worker.current_clock().value();
        worker.intent(bounded_, Key(random() % kKeys), Clock(now), Clock(now + 5));
      }
      if (moves && random() % 8 == 0) worker.localize(bounded_, Key(random() % kKeys));
      worker.push(bounded_, key, unit).wait();
      worker.push(answered_, counter(worker.count(), worker.index(), key), std::span(&one, 1)).wait();
      // Those of one worker, or of all.
      std::vector<std::int64_t> least(worker.count());
      const std::size_t first = bound_.strong ? 0 : random() % worker.count();
      const std::size_t end = bound_.strong ? worker.count() : first + 1;
      for (std::size_t other = first; other < end; ++other)
        worker.pull(answered_, counter(worker.count(), other, key), std::span(&least[other], 1)).wait();
      worker.pull(bounded_, key, value).wait();
      double lacks = 0;
      for (std::size_t other = first; other < end; ++other)
        lacks += std::max(0.0, static_cast<double>(least[other]) - value[other]);
      expect(value[worker.index()] >= static_cast<double>(least[worker.index()]), "the worker's own pushes");
      expect(lacks <= bound_.bound, "what a copy lacks: " + std::to_string(lacks));
      worker.advance_clock();
    }
  }

 private:
  static Key counter(std::size_t workers, std::size_t worker, Key key) {
    return Key(key.value() * workers + worker);
  }

  const Table<double>& bounded_;
  const Table<std::int64_t>& answered_;
  const ValueBound bound_;
};

}  // namespace

TEST_CASE("values: what a copy lacks of a worker's updates is bounded, while keys move and replicas come") {
  const double bound = GENERATE(1.0, 3.0);
  const bool clocked = GENERATE(false, true);
  const bool strong = GENERATE(false, true);
  const Technique technique = GENERATE(Technique::adaptive, Technique::replication_only);
  ParameterManager manager(MPI_COMM_WORLD, options_of(technique));
  const std::size_t workers = 2 * ranks_of_world();
  const ValueBound value_bound{.bound = bound, .strong = strong};
  const Consistency consistency = clocked ? Consistency::cvap(2, value_bound) : Consistency::vap(value_bound);
  const auto bounded =
      manager.create_table<double>({.keys = kKeys, .length = workers, .consistency = consistency});
  const auto answered =
      manager.create_table<std::int64_t>({.keys = kKeys * workers, .consistency = Consistency::sequential});
  for (int phase = 0; phase < 2; ++phase) {
    manager.run_workers(2, [&](IntentWorker& worker) {
      BoundedHistory(bounded, answered, value_bound)
          .run(worker, strong ? 30 : 60, technique == Technique::adaptive);
    });
  }
}

TEST_CASE("values: no worker waits for one that computes, and larger updates pass alone") {
  const bool strong = GENERATE(false, true);
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::full_replication));
  const auto table = manager.create_table<double>(
      {.keys = 1, .consistency = Consistency::vap({.bound = 1, .strong = strong})});
  const auto all = static_cast<double>(ranks_of_world());
  manager.run_workers(1, [&](IntentWorker& worker) {
    double value = 0;
    worker.sync_barrier();
    if (worker.index() > 0) {
      for (int i = 0; i < 20; ++i) worker.push(table, Key(0), std::vector<double>{1});
      worker.push(table, Key(0), std::vector<double>{10});
    }
    worker.sync_barrier();
    worker.pull(table, Key(0), std::span(&value, 1)).wait();
    expect(value == 30 * (all - 1), "the sum");
  });
  const lapse::TableCounters counters = manager.statistics().server.table_total(table.id());
  CHECK(counters.value_alone == static_cast<std::uint64_t>(all) - 1);
  if (lapse::test::domains_of_world().domains() > 1) CHECK(counters.value_waits > 0);
}

TEST_CASE("values: a call whose keys repeat waits within, and elements count by their values") {
  const bool strong = GENERATE(false, true);
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::full_replication));
  const auto table = manager.create_table<double>(
      {.keys = 3,
       .length = 4,
       .consistency = Consistency::vap({.bound = 2, .decays = true, .strong = strong})});
  manager.run_workers(2, [&](IntentWorker& worker) {
    const std::vector<Key> keys{Key(0), Key(1), Key(0), Key(0), Key(2), Key(0), Key(0)};
    const std::vector<double> updates(keys.size() * 4, 1);
    const std::vector<std::uint32_t> indices{0, 3, 1, 1, 1, 2, 3};
    const std::vector<double> elements(keys.size(), 1);
    for (int i = 0; i < 3; ++i) {
      worker.push(table, keys, updates);
      worker.push_elements(table, keys, indices, elements);
      worker.push_elements(table, Key(1), indices, elements);
      worker.advance_clock();
    }
    worker.sync_barrier();
    const auto all = static_cast<double>(worker.count());
    std::vector<double> value(4);
    worker.pull(table, Key(0), value).wait();
    expect(value == std::vector<double>{18 * all, 21 * all, 18 * all, 18 * all}, "key 0");
    worker.pull(table, Key(1), value).wait();
    expect(value == std::vector<double>{6 * all, 12 * all, 6 * all, 12 * all}, "key 1");
  });
}

TEST_CASE("values: what is not known before is refused") {
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const Consistency bounded = Consistency::vap({.bound = 1});
  const auto refused = [&](const lapse::TableOptions& options) {
    return thrown_text<lapse::ConfigurationError>([&] { server.create_table<float>(options); });
  };
  using lapse::UpdateRule;
  for (const UpdateRule& rule : {UpdateRule::assign(), UpdateRule::adam({}), UpdateRule::ftrl({}),
                                 UpdateRule::sgd({.learning_rate = 1, .l2 = 0.1})}) {
    CHECK(contains(refused({.keys = 1, .update_rule = rule, .consistency = bounded}), "expected add"));
  }
  CHECK(
      contains(refused({.keys = 1, .update_rule = UpdateRule::assign(), .consistency = Consistency::essp(1)}),
               "cannot be merged"));
  const auto table = server.create_table<double>({.keys = 1, .consistency = bounded});
  const auto function = server.register_function<double>("nothing", [](Key, std::span<double>) {});
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> key{Key(0)};
    const auto says = [](const std::string& text) { return contains(text, "expected push"); };
    expect(says(thrown_text<lapse::UsageError>([&] { worker.set(table, Key(0), std::vector<double>{1}); })),
           "set");
    expect(says(thrown_text<lapse::UsageError>([&] { worker.call(table, function, key); })), "call");
    expect(says(thrown_text<lapse::UsageError>([&] { static_cast<void>(worker.lease(table, key)); })),
           "lease");
    expect(says(thrown_text<lapse::UsageError>(
               [&] { worker.update_if_local(table, Key(0), [](std::span<double>) {}); })),
           "update_if_local");
    // An update that is no number passes alone.
    worker.push(table, Key(0), std::vector<double>{std::numeric_limits<double>::quiet_NaN()}).wait();
    worker.push(table, Key(0), std::vector<double>{1}).wait();
  });
}

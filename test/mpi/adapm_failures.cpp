// Failures of replicas: changes that cannot be merged, replicas that memory cannot be allocated for.
#include <mpi.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <stdexcept>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::PeerFailed;
using lapse::Rank;
using lapse::TableOptions;
using lapse::UpdateRule;
using lapse::test::contains;
using lapse::test::copied_keys;
using lapse::test::copied_table;
using lapse::test::copies_by_intents;
using lapse::test::expect;
using lapse::test::make_local;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 8;

// Every rank is a domain, so that replicas exist in any environment.
Options ranks_alone(Options options = copies_by_intents()) {
  options.server.domain = {lapse::DomainChoice::Kind::rank, 1};
  return options;
}

// Sums gradients. A push of 100 succeeds, but merging it throws.
struct NoHundreds {
  static std::string name() { return "no hundreds"; }
  static std::size_t state_elements(std::size_t) { return 0; }
  static void initialise(std::span<const double>, std::span<double>) {}
  static void apply(std::span<double> value, std::span<double>, std::span<const double> update, float) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] += update[i];
  }
  static void merge(std::span<double> sum, std::size_t) {
    for (const double element : sum)
      if (element == 100) throw std::domain_error("a hundred");
  }
};

// Every rank receives the error, with table, key and rank. Afterwards the manager can only be closed.
void check_failed(ParameterManager& manager, const std::function<void(IntentWorker&)>& f,
                  const std::vector<std::string>& parts) {
  const std::string text = thrown_text<PeerFailed>([&] { manager.run_workers(1, f); });
  INFO(text);
  for (const std::string& part : parts) CHECK(contains(text, part));
  CHECK_THROWS_AS(manager.run_workers(1, [](IntentWorker&) {}), PeerFailed);
  manager.close();
}

}  // namespace

TEST_CASE("A rule that throws while gradients of a copy are merged ends the phase on every rank") {
  struct Case {
    std::string what;
    std::function<void(IntentWorker&, const lapse::Table<double>&)> wait;
  };
  const std::vector<Case> cases{
      {"sync_barrier", [](IntentWorker& worker, const lapse::Table<double>&) { worker.sync_barrier(); }},
      {"wait_sync",
       [](IntentWorker& worker, const lapse::Table<double>&) {
         for (;;) worker.wait_sync();
       }},
      {"advance_clock",
       [](IntentWorker& worker, const lapse::Table<double>&) {
         for (;;) worker.advance_clock();
       }},
      {"end of the intents", [](IntentWorker&, const lapse::Table<double>&) {}},
  };
  for (const Case& one : cases) {
    INFO(one.what);
    ParameterManager manager(MPI_COMM_WORLD, ranks_alone());
    if (manager.ranks() == 1) return;  // There are no replicas.
    TableOptions options = copied_table(false, kKeys, manager.ranks());
    options.name = "factors";
    options.update_rule = UpdateRule::custom<double>(NoHundreds());
    const auto table = manager.create_table<double>(options);
    check_failed(manager,
                 [&](IntentWorker& worker) {
                   make_local(worker, table, copied_keys(false, kKeys, worker.ranks()));
                   // The home of key 0 is rank 0.
                   if (worker.index() + 1 == worker.count())
                     worker.push(table, Key(0), std::vector<double>{100}).wait();
                   one.wait(worker, table);
                 },
                 {"a hundred", "table 'factors'", "key 0", "rank 0"});
  }
}

TEST_CASE("What is not a number reaches the main copy and all others, and ends") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const UpdateRule& rule : {UpdateRule::add(), UpdateRule::sgd({.learning_rate = 0.5}),
                                 UpdateRule::adagrad({}), UpdateRule::adam({}), UpdateRule::ftrl({})}) {
    INFO(rule.name());
    ParameterManager manager(MPI_COMM_WORLD, ranks_alone());
    TableOptions options = copied_table(false, kKeys, manager.ranks());
    options.length = 3;
    options.update_rule = rule;
    const auto table = manager.create_table<double>(options);
    const auto keys = copied_keys(false, kKeys, manager.ranks());
    manager.run_workers(1, [&](IntentWorker& worker) {
      make_local(worker, table, keys);
      const std::size_t last = worker.count() - 1;
      // The pushes reach the main copies of some keys, and replicas of the others.
      if (worker.index() == last) {
        for (const Key key : keys) worker.push(table, key, std::vector<double>{nan, infinity, 1});
      }
      worker.sync_barrier();
      std::vector<double> value(3);
      for (const Key key : keys) {
        expect(worker.pull_if_local(table, key, value), "a local key");
        expect(std::isnan(value[0]), "what is not a number");
        expect(!std::isfinite(value[1]) || rule.name().starts_with("ftrl") || rule.name().starts_with("ada"),
               "what is not finite");
        expect(std::isfinite(value[2]) && value[2] != 0, "the other element");
      }
      worker.barrier();
      // These pushes are not merged before the phase ends.
      if (worker.index() == 0)
        for (const Key key : keys) worker.push(table, key, std::vector<double>{1, -infinity, nan});
    });
    manager.run_workers(1, [&](IntentWorker& worker) {
      std::vector<double> value(3);
      for (const Key key : keys) {
        worker.pull(table, key, value).wait();
        expect(std::isnan(value[0]) && std::isnan(value[2]), "what is not a number, in the next phase");
      }
      // No sync follows: the replicas still hold changes when the manager is closed.
      make_local(worker, table, keys);
      for (const Key key : keys) worker.push(table, key, std::vector<double>{nan, nan, nan});
    });
    manager.close();
  }
}

TEST_CASE("A million intents that are never used are dropped with their phase") {
  for (const Technique technique : {Technique::adaptive, Technique::immediate}) {
    Options options = ranks_alone();
    options.technique = technique;
    ParameterManager manager(MPI_COMM_WORLD, options);
    const std::uint64_t intents = technique == Technique::adaptive ? 1'000'000 : 50'000;
    const auto table = manager.create_table<float>({.keys = 1000});
    manager.run_workers(1, [&](IntentWorker& worker) {
      const std::uint64_t own = intents / worker.count();
      for (std::uint64_t i = 0; i < own; ++i) {
        worker.intent(table, Key(i % 1000), Clock(static_cast<std::int64_t>(1'000'000 + i)),
                      Clock(static_cast<std::int64_t>(1'000'001 + i)));
      }
      for (int clock = 0; clock < 100; ++clock) worker.advance_clock();
      std::vector<float> value(1);
      for (std::uint64_t key = 0; key < 1000; ++key) {
        worker.push(table, Key(key), std::vector<float>{1});
        worker.pull(table, Key(key), value).wait();
        expect(value[0] >= 1, "its own push");
      }
    });
    const Statistics statistics = manager.statistics();
    const IntentCounters total = statistics.intents.total();
    const auto ranks = static_cast<std::uint64_t>(manager.ranks());
    CHECK(total.intents == intents / ranks * ranks);
    CHECK(statistics.server.table_total(table.id()).copies_here == 0);
    manager.close();
    if (technique == Technique::adaptive) CHECK(statistics.server.table_total(table.id()).copies_in == 0);
  }
}

TEST_CASE("Intents on tables that have no copies move keys, and lose nothing") {
  ParameterManager manager(MPI_COMM_WORLD, ranks_alone());
  const auto sequential =
      manager.create_table<std::int64_t>({.keys = kKeys, .consistency = lapse::Consistency::sequential});
  const auto keys = copied_keys(false, kKeys, manager.ranks());
  manager.run_workers(1, [&](IntentWorker& worker) {
    for (std::int64_t clock = 0; clock < 200; ++clock) {
      worker.intent(sequential, keys, Clock(clock + 1), Clock(clock + 2));
      for (const Key key : keys) worker.push(sequential, key, std::vector<std::int64_t>{1});
      worker.advance_clock();
    }
    worker.barrier();
    std::vector<std::int64_t> value(1);
    for (const Key key : keys) {
      worker.pull(sequential, key, value).wait();
      expect(value[0] == 200 * static_cast<std::int64_t>(worker.count()), "all pushes");
    }
  });
  const auto total = manager.statistics().server.table_total(sequential.id());
  CHECK(total.copies_in == 0);
  CHECK((manager.ranks() == 1 || total.relocations_in > 0));
  manager.close();
}

TEST_CASE("Intents on more keys than a sparse table may have are declined, and fail no job") {
  for (const Technique technique :
       {Technique::adaptive, Technique::replication_only, Technique::relocation_only}) {
    INFO(to_string(technique));
    Options options = ranks_alone();
    options.technique = technique;
    ParameterManager manager(MPI_COMM_WORLD, options);
    TableOptions few{.name = "words", .sparse = true, .max_keys = 40};
    const auto table = manager.create_table<std::int64_t>(few);
    manager.run_workers(1, [&](IntentWorker& worker) {
      std::vector<Key> many;
      for (std::uint64_t i = 0; i < 2000; ++i) many.emplace_back(lapse::mix_bits(i));
      worker.intent(table, many, Clock(0), Clock(1000));
      for (std::uint64_t i = 1'000'000; i < 1'010'000; i += 40)
        worker.intent(table, KeyRange{Key(i), Key(i + 40)}, Clock(0), Clock(1000));
      for (int clock = 0; clock < 50; ++clock) worker.advance_clock();
      worker.sync_barrier();
      // Only few of all keys fit into memory: each push succeeds, or fails with table and key in its message.
      std::int64_t done = 0;
      for (std::size_t i = 0; i < 200; ++i) {
        try {
          worker.push(table, many[i], std::vector<std::int64_t>{1}).wait();
          ++done;
        } catch (const lapse::OutOfMemory& error) {
          expect(contains(error.what(), "words"), error.what());
        }
      }
      worker.sync_barrier();
      std::int64_t sum = 0;
      std::vector<std::int64_t> value(1);
      for (std::size_t i = 0; i < 200; ++i) {
        worker.pull(table, many[i], value).wait();
        sum += value[0];
      }
      std::vector<std::int64_t> all{done};
      worker.all_reduce(std::span<std::int64_t>(all));
      expect(sum == all[0],
             "all pushes that were done, " + std::to_string(all[0]) + ", found " + std::to_string(sum));
    });
    const auto total = manager.statistics().server.table_total(table.id());
    CHECK(total.copies_here == 0);
    if (manager.ranks() > 1) CHECK(total.declined_copies + total.refused_copies > 0);
    manager.close();
  }
}

TEST_CASE("Intents on more keys than the memory limit of a sparse table has room for fail no job") {
  constexpr std::uint64_t kMany = 20'000;
  constexpr std::size_t kLength = 64;
  for (const Technique technique :
       {Technique::adaptive, Technique::replication_only, Technique::relocation_only}) {
    INFO(to_string(technique));
    Options options = ranks_alone();
    options.technique = technique;
    ParameterManager manager(MPI_COMM_WORLD, options);
    TableOptions small{.name = "words", .sparse = true, .length = kLength, .memory_limit_bytes = 2 << 20};
    const auto table = manager.create_table<float>(small);
    manager.run_workers(1, [&](IntentWorker& worker) {
      const std::vector<float> ones(kLength, 1);
      std::vector<float> value(kLength);
      // These keys have values: they are replicated while memory lasts.
      for (std::uint64_t key = 0; key < 200; ++key) worker.push(table, Key(key), ones).wait();
      worker.sync_barrier();
      for (std::uint64_t i = 0; i < kMany; i += 2000)
        worker.intent(table, KeyRange{Key(i), Key(i + 2000)}, Clock(0), Clock(1000));
      for (int clock = 0; clock < 50; ++clock) worker.advance_clock();
      worker.sync_barrier();
      for (std::uint64_t key = 0; key < 200; ++key) worker.push(table, Key(key), ones).wait();
      worker.sync_barrier();
      for (std::uint64_t key = 0; key < 200; ++key) {
        worker.pull(table, Key(key), value).wait();
        expect(value.back() == static_cast<float>(2 * worker.count()), "the pushes of all");
      }
    });
    const auto total = manager.statistics().server.table_total(table.id());
    CHECK(total.copies_here == 0);
    if (manager.ranks() > 1) {
      CHECK(total.declined_copies > 0);
      CHECK(total.copies_in + total.relocations_in > 0);
    }
    manager.close();
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

std::size_t data_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t pages[6] = {};
  for (std::size_t& number : pages) in >> number;
  return pages[5] * 4096;
}

}  // namespace

TEST_CASE("A rank that has no memory for keys that it announces declines them, and the job goes on") {
  // More keys each time: memory of an earlier manager may be free within the process, despite its limit.
  std::uint64_t many = 0;
  constexpr std::size_t kLength = 1024;
  for (const Technique technique :
       {Technique::replication_only, Technique::adaptive, Technique::relocation_only}) {
    INFO(to_string(technique));
    many += 20'000;
    Options with_technique = ranks_alone();
    with_technique.technique = technique;
    ParameterManager manager(MPI_COMM_WORLD, with_technique);
    TableOptions options = copied_table(false, many, manager.ranks());
    options.length = kLength;
    const auto table = manager.create_table<float>(options);
    const Rank last(manager.ranks() - 1);
    rlimit before{};
    getrlimit(RLIMIT_DATA, &before);
    manager.run_workers(1, [&](IntentWorker& worker) {
      const std::vector<float> ones(kLength, 1);
      std::vector<float> value(kLength);
      const auto keys = copied_keys(false, many, worker.ranks());
      if (worker.rank() == last) {
        rlimit limit = before;
        limit.rlim_cur = data_bytes() + (std::size_t{24} << 20);
        setrlimit(RLIMIT_DATA, &limit);
        for (std::size_t first = 0; first < many; first += 500) {
          worker.intent(table, std::span(keys).subspan(first, 500), Clock(0), Clock(1000));
          worker.advance_clock();
        }
      }
      worker.sync_barrier();
      for (std::size_t i = 0; i < many; i += 50) worker.push(table, keys[i], ones);
      worker.sync_barrier();
      for (std::size_t i = 0; i < many; i += 50) {
        worker.pull(table, keys[i], value).wait();
        expect(value.front() == static_cast<float>(worker.count()), "the pushes of all");
      }
      worker.barrier();
      if (worker.rank() == last) setrlimit(RLIMIT_DATA, &before);
    });
    const auto total = manager.statistics().server.table_total(table.id());
    CHECK(total.declined_copies > 0);
    CHECK(total.copies_in + total.relocations_in > 0);
    CHECK(total.copies_here == 0);
    manager.close();
  }
}
#endif

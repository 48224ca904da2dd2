// The counters of a parameter manager: accesses, messages and replicas.
#include <mpi.h>

#include <numeric>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/hooks.hpp"
#include "lapse/core/statistics/access_shares.hpp"
#include "lapse/core/statistics/copy_series.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using Catch::Matchers::Contains;
using lapse::Clock;
using lapse::Key;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::options_of;

namespace {

constexpr std::uint64_t kKeys = 60;

}  // namespace

TEST_CASE("Operations are counted, on one key or many, and those that sent a message") {
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::static_partitioning));
  const auto table = manager.create_table<std::int64_t>({.name = "counts", .keys = kKeys});
  constexpr std::uint64_t kOne = 5;
  manager.run_workers(2, [&](IntentWorker& worker) {
    const auto all = key_range(0, kKeys);
    std::vector<std::int64_t> values(kKeys);
    const std::vector<std::int64_t> ones(kKeys, 1);
    for (std::uint64_t i = 0; i < kOne; ++i) {
      // From memory or by message, whatever the key's home is.
      worker.pull(table, Key(i), std::span(values).first(1)).wait();
      worker.push(table, Key(i), std::span(ones).first(1)).wait();
    }
    worker.pull(table, all, values).wait();
    worker.push(table, all, ones).wait();
    worker.set(table, Key(7), std::span(ones).first(1)).wait();
    worker.pull(table, std::span<const Key>(), {}).wait();  // no key, no operation
    if (worker.pull_if_local(table, Key(1), std::span(values).first(1)))
      expect(worker.locality(table, Key(1)) == lapse::Locality::local, "a key that was read");
  });
  const lapse::Statistics statistics = manager.statistics().server;
  for (const lapse::RankStatistics& rank : statistics.ranks) {
    const lapse::TableCounters& counters = rank.tables[0];
    const std::uint64_t keys = counters.local_pulls + counters.local_pushes + counters.queued_accesses +
                               counters.remote_pulls + counters.remote_pushes;
    const std::uint64_t read = keys - 2 * (2 * kOne + 2 * kKeys + 1);  // by pull_if_local
    CHECK((read == 0 || read == 2));
    CHECK(counters.operations == 2 * (2 * kOne + 3) + read);
    const std::uint64_t remote_keys = counters.remote_pulls + counters.remote_pushes;
    CHECK((remote_keys > 0) == (counters.remote_operations > 0));
    CHECK(counters.remote_operations <= 2 * (2 * kOne + 3));
  }
  manager.close();
}

TEST_CASE("Messages are counted by kind: what ranks send is what ranks receive, byte by byte") {
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::adaptive));
  const auto table = manager.create_table<std::int64_t>({.name = "counts", .keys = kKeys});
  manager.run_workers(2, [&](IntentWorker& worker) {
    const auto keys = key_range(0, kKeys);
    worker.intent(table, keys, Clock(0), Clock(20));
    std::vector<std::int64_t> values(kKeys);
    for (int clock = 0; clock < 20; ++clock) {
      worker.pull(table, keys, values).wait();
      worker.push(table, keys, std::vector<std::int64_t>(kKeys, 1));
      worker.advance_clock();
    }
    worker.sync_barrier();
  });
  const Statistics statistics = manager.statistics();
  for (const lapse::RankStatistics& rank : statistics.server.ranks) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const lapse::MessageKind& kind : rank.kinds) {
      sent += kind.bytes_sent;
      received += kind.bytes_received;
    }
    CHECK(sent == rank.counters.bytes_sent);
    CHECK(received == rank.counters.bytes_received);
    CHECK(rank.counters.rounds > 0);
  }
  for (const lapse::MessageKind& kind : statistics.server.message_kinds()) {
    INFO(kind.name);
    CHECK(kind.records_sent == kind.records_received);
    CHECK(kind.bytes_sent == kind.bytes_received);
  }
  manager.close();
}

TEST_CASE("The staleness of copies at reading is counted, and how many copies there were over time") {
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::full_replication));
  const auto table = manager.create_table<std::int64_t>({.name = "counts", .keys = kKeys});
  manager.run_workers(1, [&](IntentWorker& worker) {
    std::vector<std::int64_t> value(1);
    std::vector<std::int64_t> values(kKeys);
    const auto keys = key_range(0, kKeys);
    for (const Key key : keys)
      while (!worker.pull_if_local(table, key, value)) worker.advance_clock();
    worker.barrier();
    for (int i = 0; i < 40; ++i) {
      for (const Key key : keys) {
        worker.pull(table, key, value).wait();
        worker.push(table, key, std::vector<std::int64_t>{1});
      }
      worker.pull(table, keys, values).wait();
      worker.advance_clock();
    }
    worker.sync_barrier();
  });
  const Statistics statistics = manager.statistics();
  const lapse::TableCounters total = statistics.server.table_total(table.id());
  if (total.copies_here > 0) {
    CHECK(total.read_samples > 0);
    CHECK(total.stale_nanoseconds > 0);
    CHECK(total.stale_max_nanoseconds >= total.stale_nanoseconds / total.read_samples);
    std::uint64_t most = 0;
    for (const lapse::RankStatistics& rank : statistics.server.ranks)
      most += lapse::summarize(rank.copies, 0).largest;
    CHECK(most >= total.copies_here);
  }
  const auto shares = lapse::access_shares(total);
  REQUIRE(shares);
  CHECK(shares->main + shares->copy + shares->queued + shares->remote == Approx(1));
  CHECK((total.copies_here > 0) == (shares->copy > 0));
  CHECK_THAT(statistics.to_text(), Contains("copy_share") && Contains("copies, most at a time"));
  manager.close();
}

TEST_CASE("Intents without effect get one warning when the manager is closed, on rank 0") {
  enum class Signals { none, now, later, ended, as_meant };
  const auto warnings = [](Signals signals) {
    std::vector<std::string> texts;
    lapse::set_hooks({.log = [&](lapse::LogLevel level, lapse::Rank, std::string_view text) {
      if (level == lapse::LogLevel::warning) texts.emplace_back(text);
    }});
    {
      ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::adaptive));
      const auto table = manager.create_table<float>({.name = "weights", .keys = kKeys});
      manager.run_workers(2, [&](IntentWorker& worker) {
        const std::int64_t clock = worker.current_clock().value();
        if (signals == Signals::ended || signals == Signals::as_meant) worker.advance_clock();
        if (signals == Signals::none) return;
        const bool ahead = signals == Signals::later || signals == Signals::as_meant;
        worker.intent(table, Key(1), Clock(clock + (ahead ? 1 : 0)), Clock(clock + (ahead ? 2 : 1)));
      });
      manager.close();
    }
    lapse::set_hooks({});
    return texts;
  };
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const Signals signals :
       {Signals::none, Signals::now, Signals::later, Signals::ended, Signals::as_meant}) {
    const std::vector<std::string> texts = warnings(signals);
    const bool is_wrong = signals == Signals::later || signals == Signals::ended;
    REQUIRE(texts.size() == (is_wrong && rank == 0 ? 1 : 0));
    if (texts.empty()) continue;
    CHECK_THAT(texts[0], Contains("training-with-intents.md"));
    CHECK_THAT(texts[0], Contains(signals == Signals::later ? "no worker has called advance_clock"
                                                            : "each had ended when it was signaled"));
  }
}

// Impossible leases, and calls that a lease excludes.
#include <mpi.h>

#include <functional>

#include "lapse/core/error.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::thrown_text;

TEST_CASE("Leases of wrong keys or tables are refused; nothing is held") {
  ParameterServer server(MPI_COMM_WORLD);
  ParameterServer other(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.name = "values", .keys = 10});
  const auto second = server.create_table<double>({.keys = 20});
  const auto strange = other.create_table<double>({.keys = 10});
  server.run_workers(2, [&](Worker& worker) {
    const std::vector<Key> keys{Key(0), Key(9)};
    const std::vector<Key> wrong{Key(0), Key(10)};
    const auto out_of_range = [&] { static_cast<void>(worker.lease(table, wrong)); };
    const std::string text = thrown_text<KeyOutOfRange>(out_of_range);
    expect(contains(text, "key 10 of table 'values'"), "key and table in: " + text);
    const auto in_second = [&] {
      static_cast<void>(worker.lease({LeaseKeys(second, wrong), LeaseKeys(table, wrong)}));
    };
    expect(contains(thrown_text<KeyOutOfRange>(in_second), "'values'"), "the second table");
    const auto foreign = [&] { static_cast<void>(worker.lease(strange, keys)); };
    expect(contains(thrown_text<UsageError>(foreign), "another server"), "another server");
    const auto twice = [&] {
      static_cast<void>(
          worker.lease({LeaseKeys(table, keys), LeaseKeys(second, keys), LeaseKeys(table, keys)}));
    };
    expect(contains(thrown_text<UsageError>(twice), "'values' more than once"), "named twice");
    // The state is unchanged.
    std::vector<double> values(2);
    worker.pull(table, keys, values).wait();
    worker.barrier();
    const std::vector<Key> own{Key(worker.index())};
    const Lease lease = worker.lease(table, own);
    expect(contains(thrown_text<UsageError>([&] { lease.values(second); }), "no keys"),
           "a table without keys");
  });
}

TEST_CASE("A lease has no values of a table of another server, whatever its number") {
  ParameterServer server(MPI_COMM_WORLD);
  ParameterServer other(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.keys = 10});
  const auto strange = other.create_table<double>({.keys = 10, .length = 100});
  REQUIRE(table.id() == strange.id());
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(worker.index())};
    const Lease lease = worker.lease(table, keys);
    thrown_text<UsageError>([&] { lease.values(strange); });
    expect(lease.values(table).size() == 1, "its own table");
  });
}

TEST_CASE("What an initialiser throws when a lease or a localize makes a key ends the phase on every rank") {
  for (const bool lease : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    TableOptions options{.sparse = true, .home = HomeMapKind::custom};
    const std::int32_t ranks = server.ranks();
    options.home_function = [ranks](Key) { return ranks - 1; };
    options.initialiser = Initialiser::function<double>(
        [](Key key, std::span<double>) { throw std::runtime_error("no " + std::to_string(key.value())); });
    const auto table = server.create_table<double>(options);
    if (ranks == 1 && !lease) continue;  // The key is local: no key is made.
    const std::string text = thrown_text<PeerFailed>([&] {
      server.run_workers(1, [&](Worker& worker) {
        const std::vector<Key> keys{Key(77)};
        if (worker.index() == 0) {
          if (lease) {
            static_cast<void>(worker.lease(table, keys));
          } else {
            worker.localize(table, keys).wait();
          }
        }
        worker.barrier();
      });
    });
    INFO(text);
    CHECK(contains(text, "no 77"));
    server.close();
  }
}

TEST_CASE("A call that is refused under a lease and not caught ends the phase on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 10});
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(2, [&](Worker& worker) {
      const std::vector<Key> keys{Key(4), Key(5)};
      for (;;) {
        const Lease lease = worker.lease(table, keys);
        if (worker.index() == 0) worker.barrier();
      }
    });
  });
  CHECK(contains(text, "while it holds a lease"));
  server.close();
}

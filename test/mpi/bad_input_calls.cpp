#include <mpi.h>

#include <functional>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 30;
constexpr std::size_t kLength = 2;

using Values = std::vector<std::int64_t>;

}  // namespace

TEST_CASE(
    "A phase without any worker, with a negative number or far too many, is refused; the server goes on") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto nothing = [](Worker&) {};
  CHECK(contains(thrown_text<UsageError>([&] { server.run_workers(0, nothing); }), "at least one"));
  if (server.rank() == Rank(0)) {
    CHECK(contains(thrown_text<UsageError>([&] { server.run_workers(-2, nothing); }), "-2 workers"));
  } else {
    CHECK(contains(thrown_text<PeerFailed>([&] { server.run_workers(1, nothing); }), "-2 workers"));
  }
  const std::int32_t last = server.ranks() - 1;
  for (const std::int32_t workers : {ParameterServer::kMaxWorkers + 1, 2'000'000'000}) {
    const std::string expected = std::to_string(workers) + " workers on rank " + std::to_string(last) +
                                 ": expected 0 to " + std::to_string(ParameterServer::kMaxWorkers);
    if (server.rank() == Rank(last)) {
      CHECK(contains(thrown_text<UsageError>([&] { server.run_workers(workers, nothing); }), expected));
    } else {
      CHECK(contains(thrown_text<PeerFailed>([&] { server.run_workers(1, nothing); }), expected));
    }
  }
  int calls = 0;
  server.run_workers(1, [&](Worker&) { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("Keys out of range and spans of wrong lengths are refused before anything is applied") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.name = "factors", .keys = kKeys, .length = kLength});
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(0), Key(kKeys), Key(1)};
    Values values(3 * kLength, 7);
    Values row(kLength, 7);
    const auto never = [](std::span<std::int64_t>) { throw std::logic_error("called"); };
    const std::vector<std::function<void()>> out_of_range{
        [&] { worker.pull(table, keys, values).wait(); },
        [&] { worker.push(table, keys, values); },
        [&] { worker.set(table, keys, values); },
        [&] { worker.localize(table, keys); },
        [&] { worker.pull(table, Key(kKeys), row).wait(); },
        [&] { worker.push(table, Key(kKeys), row); },
        [&] { worker.set(table, Key(kKeys), row); },
        [&] { worker.localize(table, Key(kKeys)); },
        [&] { worker.pull_if_local(table, Key(kKeys), row); },
        [&] { worker.update_if_local(table, Key(kKeys), never); },
        [&] { worker.localize(table, Key(~std::uint64_t{0})); },
    };
    for (const auto& call : out_of_range) {
      const std::string text = thrown_text<KeyOutOfRange>(call);
      expect(contains(text, "'factors'") && contains(text, "0 to 29"), "table and range in: " + text);
      expect(contains(text, "rank " + std::to_string(worker.rank().value())), "rank in: " + text);
    }
    const std::vector<Key> two{Key(0), Key(1)};
    const std::vector<std::function<void()>> wrong_length{
        [&] { worker.pull(table, two, values).wait(); },
        [&] { worker.push(table, two, row); },
        [&] { worker.set(table, two, values); },
        [&] { worker.pull(table, Key(0), values).wait(); },
        [&] { worker.push(table, Key(0), Values()); },
        [&] { worker.set(table, Key(0), values); },
        [&] { worker.pull_if_local(table, Key(0), values); },
        [&] { worker.push(table, std::vector<Key>(), row); },
    };
    for (const auto& call : wrong_length) {
      const std::string text = thrown_text<LengthMismatch>(call);
      expect(contains(text, "'factors'") && contains(text, "expected"), "table and length in: " + text);
    }
    worker.barrier();
    worker.pull(table, std::vector<Key>{Key(0), Key(1), Key(2)}, values).wait();
    expect(values == Values(3 * kLength, 0), "nothing was applied");
    expect(row == Values(kLength, 7), "nothing was read");
  });
}

TEST_CASE("A table of another server is refused") {
  ParameterServer server(MPI_COMM_WORLD);
  ParameterServer other(MPI_COMM_WORLD);
  const auto strange = other.create_table<std::int64_t>({.keys = kKeys});
  const auto own = server.create_table<std::int64_t>({.keys = kKeys});
  server.run_workers(1, [&](Worker& worker) {
    Values value(1);
    const auto call = [&] { worker.pull(strange, Key(0), value).wait(); };
    expect(contains(thrown_text<UsageError>(call), "another server"), "the reason");
    const auto update = [&] { worker.update_if_local(strange, Key(0), [](std::span<std::int64_t>) {}); };
    thrown_text<UsageError>(update);
    worker.pull(own, Key(0), value).wait();
  });
}

TEST_CASE("A Table and a Function that nothing was assigned to are refused, by every call") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto own = server.create_table<std::int64_t>({.keys = kKeys});
  struct Solver {
    Table<std::int64_t> table;
    Function<std::int64_t, Nothing, Nothing> function;
  };
  const Solver solver;
  const Table<std::int64_t>& none = solver.table;
  CHECK((!none && own && none.keys() == 0 && none.length() == 0 && !none.is_sparse()));
  const std::string text = "an empty Table";
  CHECK(contains(thrown_text<UsageError>([&] { none.name(); }), text));
  CHECK(contains(thrown_text<UsageError>([&] { none.length(Key(0)); }), text));
  CHECK(contains(thrown_text<UsageError>([&] { none.state_length(Key(0)); }), text));
  CHECK(contains(thrown_text<UsageError>([&] { server.memory_use(none); }), text));
  server.run_workers(1, [&](Worker& worker) {
    Values value(1);
    const std::vector<Key> keys{Key(0), Key(1)};
    Values values(keys.size());
    const std::vector<std::function<void()>> calls{
        [&] { worker.pull(none, keys, values).wait(); },
        [&] { worker.push(none, keys, values); },
        [&] { worker.set(none, keys, values); },
        [&] { worker.localize(none, keys); },
        [&] { worker.call(none, solver.function, keys); },
        [&] { worker.pull(none, Key(0), value).wait(); },
        [&] { worker.push(none, Key(0), value); },
        [&] { worker.locality(none, Key(0)); },
        [&] { worker.pull_if_local(none, Key(0), value); },
        [&] { worker.update_if_local(none, Key(0), [](std::span<std::int64_t>) {}); },
        [&] { worker.for_each_local(none, [](Key, std::span<const std::int64_t>) {}); },
        [&] { static_cast<void>(worker.lease(none, keys)); },
        [&] {
          static_cast<void>(worker.lease({{own, keys}, {none, keys}}));
        }};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool is_call = i == 4;  // the function is refused first
      expect(contains(thrown_text<UsageError>(calls[i]), is_call ? "function" : text),
             "call " + std::to_string(i));
    }
    const std::vector<Key> one{Key(worker.index())};
    const Lease lease = worker.lease(own, one);
    expect(contains(thrown_text<UsageError>([&] { lease.values(none); }), text), "the lease");
  });
  Solver later;
  later.table = own;
  CHECK(later.table.name() == own.name());
}

TEST_CASE("Calls of the server under a key's latch are refused; the latch is released") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  server.run_workers(1, [&](Worker& worker) {
    // Each rank chooses a different key.
    Values row(kLength);
    Key key;
    worker.for_each_local(table, [&](Key own, std::span<const std::int64_t>) { key = own; });
    std::vector<double> numbers(1);
    const std::vector<std::function<void()>> calls{
        [&] { worker.pull(table, key, row).wait(); },
        [&] { worker.push(table, key, row); },
        [&] { worker.set(table, key, row); },
        [&] { worker.localize(table, key); },
        [&] { worker.pull_if_local(table, key, row); },
        [&] { worker.update_if_local(table, key, [](std::span<std::int64_t>) {}); },
        [&] { worker.wait_all(); },
        [&] { worker.barrier(); },
        [&] { worker.all_reduce(std::span<double>(numbers)); },
        [&] { worker.broadcast(std::as_writable_bytes(std::span(numbers))); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto update = [&] {
        worker.update_if_local(table, key, [&](std::span<std::int64_t> value) {
          ++value[0];
          calls[i]();
        });
      };
      const std::string text = thrown_text<UsageError>(update);
      expect(contains(text, "latch"), "the reason in: " + text);
      expect(worker.pull_if_local(table, key, row), "the latch is free");
      expect(row[0] == static_cast<std::int64_t>(i + 1), "what the function wrote stays");
    }
    const auto own_exception = [&] {
      worker.update_if_local(table, key, [](std::span<std::int64_t>) { throw std::runtime_error("mine"); });
    };
    expect(thrown_text<std::runtime_error>(own_exception) == "mine", "the function's own exception");
    worker.barrier();
  });
}

TEST_CASE("Calls that belong between phases are refused while workers run") {
  ParameterServer server(MPI_COMM_WORLD);
  server.run_workers(2, [&](Worker& worker) {
    const std::vector<std::function<void()>> calls{
        [&] { server.create_table<float>({.keys = 3}); },
        [&] { server.run_workers(1, [](Worker&) {}); },
        [&] { server.statistics(); },
        [&] { server.close(); },
    };
    for (const auto& call : calls) {
      expect(contains(thrown_text<UsageError>(call), "while workers run"), "the reason");
    }
    worker.barrier();
  });
  server.close();
}

TEST_CASE("After close every call is a ClosedError") {
  ParameterServer server(MPI_COMM_WORLD);
  server.close();
  CHECK_THROWS_AS(server.create_table<float>({.keys = 3}), ClosedError);
  CHECK_THROWS_AS(server.run_workers(1, [](Worker&) {}), ClosedError);
  CHECK_THROWS_AS(server.statistics(), ClosedError);
  CHECK(contains(thrown_text<ClosedError>([&] { server.close(); }), "close"));
}

TEST_CASE("A broadcast from a worker that does not exist is refused") {
  ParameterServer server(MPI_COMM_WORLD);
  server.run_workers(1, [&](Worker& worker) {
    std::vector<std::byte> bytes(1);
    expect(contains(thrown_text<UsageError>([&] { worker.broadcast(bytes, worker.count()); }), "broadcast"),
           "the reason");
  });
}

TEST_CASE("Options that differ between ranks, or are impossible on one, end the constructor on every rank") {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto make = [](const Options& options) { ParameterServer server(MPI_COMM_WORLD, options); };
  Options options = Options::from_environment();
  if (ranks > 1) {
    if (rank == ranks - 1) options.max_outstanding_operations = 17;
    CHECK(contains(thrown_text<ConfigurationError>([&] { make(options); }), "max_outstanding_operations"));
  }
  options = Options::from_environment();
  if (rank == ranks - 1) {
    options.progress_sleep_min = std::chrono::microseconds(5000);
    options.progress_sleep_max = std::chrono::microseconds(10);
    CHECK(contains(thrown_text<ConfigurationError>([&] { make(options); }), "progress_sleep_min"));
  } else {
    CHECK(contains(thrown_text<PeerFailed>([&] { make(options); }), "progress_sleep_min"));
  }
  make(Options::from_environment());
}

TEST_CASE("An environment that is wrong on one rank ends the constructor on every rank") {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto make = [] { ParameterServer server(MPI_COMM_WORLD); };
  const std::string expected = "LAPSE_RMAA belongs to no option (did you mean 'LAPSE_RMA'?)";
  if (rank == ranks - 1) {
    setenv("LAPSE_RMAA", "on", 1);
    CHECK(contains(thrown_text<ConfigurationError>(make), expected));
    unsetenv("LAPSE_RMAA");
  } else {
    CHECK(contains(thrown_text<PeerFailed>(make), expected));
  }
  make();
}

TEST_CASE("A communicator that is none is refused") {
  CHECK_THROWS_AS(ParameterServer(MPI_COMM_NULL), MpiStateError);
}

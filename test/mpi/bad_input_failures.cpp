// Failures of one rank that must reach every rank, whatever its workers wait for.
#include <mpi.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/standard_error.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 40;

// run_workers ends with PeerFailed; afterwards the server can only be closed.
void check_failed(ParameterServer& server, std::int32_t workers, const std::function<void(Worker&)>& f,
                  Rank origin, std::string_view text) {
  bool failed = false;
  try {
    server.run_workers(workers, f);
  } catch (const PeerFailed& error) {
    failed = true;
    CHECK(error.origin() == origin);
    INFO(error.text());
    CHECK(contains(error.text(), text));
  }
  CHECK(failed);
  CHECK_THROWS_AS(server.run_workers(1, [](Worker&) {}), PeerFailed);
  server.close();
}

}  // namespace

TEST_CASE("A worker that throws ends the waits of all workers of all ranks") {
  struct Waiting {
    std::string what;
    std::function<void(Worker&, const Table<std::int64_t>&)> wait;
  };
  const auto keys = key_range(0, kKeys);
  const std::vector<Waiting> all{
      {"barrier", [](Worker& worker, const Table<std::int64_t>&) { worker.barrier(); }},
      {"all_reduce",
       [](Worker& worker, const Table<std::int64_t>&) {
         std::vector<double> values(3);
         worker.all_reduce(std::span<double>(values));
       }},
      {"broadcast",
       [](Worker& worker, const Table<std::int64_t>&) {
         std::vector<std::byte> bytes(3);
         worker.broadcast(bytes, worker.count() - 1);
       }},
      {"pull, then barrier",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         std::vector<std::int64_t> values(kKeys);
         for (int i = 0; i < 20; ++i) worker.pull(table, keys, values).wait();
         worker.barrier();
       }},
      {"localize, then barrier",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         for (int i = 0; i < 20; ++i) worker.localize(table, keys).wait();
         worker.barrier();
       }},
      {"detached operations, then barrier",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         std::vector<std::int64_t> values(kKeys);
         for (int i = 0; i < 20; ++i) {
           worker.localize(table, keys);
           worker.push(table, keys, values);
         }
         worker.barrier();
       }},
  };
  for (const Waiting& waiting : all) {
    INFO(waiting.what);
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<std::int64_t>({.keys = kKeys});
    const Rank origin(server.ranks() - 1);
    check_failed(
        server, 2,
        [&](Worker& worker) {
          if (worker.index() + 1 == worker.count()) {
            std::vector<std::int64_t> values(kKeys);
            worker.pull(table, keys, values).wait();
            worker.localize(table, keys);
            throw std::runtime_error("broken in the test");
          }
          waiting.wait(worker, table);
        },
        origin, "broken in the test");
  }
}

TEST_CASE("A worker that goes on with remote accesses hears of the failure, too") {
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() == 1) return;  // No access is remote.
  const auto table = server.create_table<std::int64_t>({.keys = 2, .home = HomeMapKind::range});
  check_failed(
      server, 1,
      [&](Worker& worker) {
        if (worker.rank() == Rank(0)) throw std::runtime_error("first rank");
        // Key 0 stays on rank 0: every pull of it waits for a message.
        std::vector<std::int64_t> value(table.length());
        for (;;) worker.pull(table, Key(0), value).wait();
      },
      Rank(0), "first rank");
}

TEST_CASE("A worker whose accesses are all local hears of the failure, too") {
  const auto key = [](const Worker& worker) { return Key(worker.rank().index()); };
  const std::vector<std::int64_t> ones(1, 1);
  using Access = std::function<void(Worker&, const Table<std::int64_t>&)>;
  const std::vector<std::pair<std::string, Access>> all{
      {"pull of a key",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         std::vector<std::int64_t> value(1);
         worker.pull(table, key(worker), value).wait();
       }},
      {"push of a key",
       [&](Worker& worker, const Table<std::int64_t>& table) { worker.push(table, key(worker), ones); }},
      {"pull of keys",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         std::vector<std::int64_t> value(2);
         const std::vector<Key> keys(2, key(worker));
         worker.pull(table, keys, value).wait();
       }},
      {"localize",
       [&](Worker& worker, const Table<std::int64_t>& table) { worker.localize(table, key(worker)); }},
      {"pull_if_local",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         std::vector<std::int64_t> value(1);
         worker.pull_if_local(table, key(worker), value);
       }},
      {"update_if_local",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         worker.update_if_local(table, key(worker), [](std::span<std::int64_t>) {});
       }},
      {"for_each_local",
       [&](Worker& worker, const Table<std::int64_t>& table) {
         worker.for_each_local(table, [](Key, std::span<const std::int64_t>) {});
       }},
      {"wait_all", [&](Worker& worker, const Table<std::int64_t>&) { worker.wait_all(); }},
      {"lease", [&](Worker& worker, const Table<std::int64_t>& table) {
         const std::vector<Key> keys(1, key(worker));
         worker.lease(table, keys).release();
       }}};
  for (const auto& [what, access] : all) {
    INFO(what);
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<std::int64_t>({.keys = 8, .home = HomeMapKind::range});
    const Rank last(server.ranks() - 1);
    check_failed(
        server, 2,
        [&](Worker& worker) {
          worker.localize(table, key(worker)).wait();
          worker.barrier();
          if (worker.rank() == last && worker.local_index() == 1) throw std::runtime_error("last worker");
          for (;;) access(worker, table);
        },
        last, "last worker");
  }
}

TEST_CASE("The wait for an operation that is finished throws, too, once some rank has failed") {
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() == 1) return;  // Every operation is finished when its call returns.
  const auto table = server.create_table<std::int64_t>({.keys = 2, .home = HomeMapKind::range});
  const Rank last(server.ranks() - 1);
  std::atomic<bool> pulled{false};
  std::atomic<bool> wait_threw{false};
  check_failed(
      server, 2,
      [&](Worker& worker) {
        if (worker.rank() != last) return;
        if (worker.local_index() == 1) {
          while (!pulled) std::this_thread::yield();
          throw std::runtime_error("the second worker");
        }
        std::vector<std::int64_t> value(1);
        Operation pull = worker.pull(table, Key(0), value);
        while (!pull.done()) std::this_thread::yield();
        pulled = true;
        try {
          for (;;) worker.localize(table, Key(0));
        } catch (const PeerFailed&) {
        }
        try {
          pull.wait();
        } catch (const PeerFailed&) {
          wait_threw = true;
        }
      },
      last, "the second worker");
  CHECK(wait_threw == (server.rank() == last));
}

TEST_CASE("The rank that fails prints the text at once, while its other workers are busy") {
  ParameterServer server(MPI_COMM_WORLD);
  const Rank last(server.ranks() - 1);
  lapse::test::StandardError standard_error;
  check_failed(
      server, 2,
      [&](Worker& worker) {
        if (worker.rank() != last) return;
        if (worker.local_index() == 1) throw std::runtime_error("the text of the test");
        standard_error.read_until("the text of the test");
      },
      last, "the text of the test");
}

TEST_CASE(
    "A key out of range that the application does not catch ends the phase on every rank, with its message") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.name = "factors", .keys = kKeys});
  const Rank last(server.ranks() - 1);
  check_failed(
      server, 1,
      [&](Worker& worker) {
        if (worker.rank() == last) worker.localize(table, Key(kKeys));
        worker.barrier();
      },
      last, "key 40 of table 'factors'");
}

TEST_CASE("Something thrown that is no exception is reported") {
  ParameterServer server(MPI_COMM_WORLD);
  check_failed(
      server, 1,
      [&](Worker& worker) {
        if (worker.rank() == Rank(0)) throw 42;
        worker.barrier();
      },
      Rank(0), "unknown");
}

TEST_CASE("When workers of all ranks throw, every rank fails with one of the texts") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(
        3, [](Worker& worker) { throw std::runtime_error("worker " + std::to_string(worker.index())); });
  });
  CHECK(contains(text, "worker "));
  server.close();
}

TEST_CASE("Different calls of the server are a mismatch on every rank, after which it can be used") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;  // There is no other rank to differ from.
  const bool last = server.rank().value() == server.ranks() - 1;
  const auto create = [&] { server.create_table<float>({.keys = 4}); };
  const auto run = [&] { server.run_workers(1, [](Worker&) {}); };
  const std::vector<std::pair<std::function<void()>, std::function<void()>>> pairs{
      {create, run}, {run, [&] { server.close(); }}, {[&] { server.statistics(); }, create}};
  for (const auto& [first, second] : pairs) {
    const std::string text = thrown_text<CollectiveMismatch>(last ? second : first);
    CHECK(contains(text, "different collective calls"));
  }
  run();
  server.close();
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

TEST_CASE("A rank that has no memory for keys that arrive fails, and all other ranks with it") {
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() == 1) return;  // No message can arrive.
  constexpr std::uint64_t kMany = 20'000;
  const auto table = server.create_table<float>(
      {.name = "values", .keys = kMany, .length = 1024, .home = HomeMapKind::range});
  const Rank last(server.ranks() - 1);
  rlimit before{};
  getrlimit(RLIMIT_DATA, &before);
  check_failed(
      server, 1,
      [&](Worker& worker) {
        if (worker.rank() == last) {
          rlimit limit = before;
          limit.rlim_cur = data_bytes() + (std::size_t{24} << 20);
          setrlimit(RLIMIT_DATA, &limit);
          for (std::uint64_t first = 0; first < kMany; first += 100) {
            worker.localize(table, key_range(first, first + 100)).wait();
          }
        }
        worker.barrier();
      },
      last, "memory");
  setrlimit(RLIMIT_DATA, &before);
}
#endif

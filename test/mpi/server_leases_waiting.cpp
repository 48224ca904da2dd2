// Leases among workers that want the same keys.
#include <mpi.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 12;

// Keys of a sparse table are spread over all 64 bits.
std::vector<Key> keys_of(bool sparse) {
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < kKeys; ++number) {
    keys.emplace_back(sparse ? mix_bits(number + 1) : number);
  }
  return keys;
}

TableOptions options_of(bool sparse) {
  TableOptions options;
  options.sparse = sparse;
  if (!sparse) options.keys = kKeys;
  return options;
}

}  // namespace

TEST_CASE("Increments under leases are never lost, in whatever order the keys are asked for") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto first = server.create_table<std::int64_t>(options_of(sparse));
    const auto second = server.create_table<std::int64_t>(options_of(sparse));
    constexpr std::int64_t kRounds = 60;
    server.run_workers(3, [&](Worker& worker) {
      auto keys = keys_of(sparse);
      // Half of the workers list tables and keys in the opposite order.
      const bool opposite = worker.index() % 2 == 1;
      if (opposite) std::ranges::reverse(keys);
      for (std::int64_t round = 0; round < kRounds; ++round) {
        const LeaseKeys a(first, keys);
        const LeaseKeys b(second, keys);
        const Lease lease = opposite ? worker.lease({b, a}) : worker.lease({a, b});
        const auto in_first = lease.values(first);
        const auto in_second = lease.values(second);
        for (std::size_t i = 0; i < keys.size(); ++i) {
          // Both tables stay equal: no worker sees a holder's partial changes.
          expect(in_first[i][0] == in_second[i][0], "equal tables");
          const std::int64_t before = in_first[i][0];
          in_first[i][0] = -1;
          in_second[i][0] = -2;
          in_second[i][0] = before + 1;
          in_first[i][0] = before + 1;
        }
      }
      worker.barrier();
      std::vector<std::int64_t> values(kKeys);
      worker.pull(first, keys, values).wait();
      expect(values == std::vector<std::int64_t>(kKeys, kRounds * static_cast<std::int64_t>(worker.count())),
             "exact counts");
    });
  }
}

TEST_CASE("Leases of random keys, pushes, calls and localizes of all workers mix") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<std::int64_t>(options_of(sparse));
    const auto add = server.register_function<std::int64_t, std::int64_t>(
        "add", [](Key, std::span<std::int64_t> value, std::int64_t by) { value[0] += by; });
    server.run_workers(2, [&](Worker& worker) {
      const auto keys = keys_of(sparse);
      std::mt19937_64 random(worker.index());
      std::vector<std::int64_t> mine(kKeys);
      const std::int64_t one = 1;
      for (int round = 0; round < 300; ++round) {
        const std::size_t i = random() % kKeys;
        const std::size_t j = random() % kKeys;
        switch (random() % 5) {
          case 0: {
            const std::vector<Key> both{keys[i], keys[j]};
            const Lease lease = worker.lease(table, both);
            const auto values = lease.values(table);
            ++values[0][0];
            ++values[1][0];
            ++mine[i];
            ++mine[j];
            break;
          }
          case 1:
            worker.push(table, keys[i], std::span(&one, 1));
            ++mine[i];
            break;
          case 2:
            worker.call(table, add, std::span(&keys[i], 1), std::span(&one, 1));
            ++mine[i];
            break;
          case 3:
            worker.localize(table, keys[i]);
            break;
          default: {
            std::int64_t value = 0;
            worker.pull(table, keys[i], std::span(&value, 1)).wait();
            expect(value >= mine[i], "own changes");
            break;
          }
        }
      }
      worker.barrier();
      std::vector<std::int64_t> values(kKeys);
      worker.pull(table, keys, values).wait();
      worker.all_reduce(std::span<std::int64_t>(mine));
      expect(values == mine, "every change once");
    });
  }
}

TEST_CASE("What others do with leased keys happens after the release") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(options_of(false));
  const auto fetch = server.register_function<std::int64_t, Nothing, std::int64_t>(
      "fetch", [](Key, std::span<std::int64_t> value) { return value[0]++; });
  // Between the two workers of a rank: the second requests the keys while the first holds them.
  std::atomic<std::size_t> held{0};
  std::atomic<std::size_t> asked{0};
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = keys_of(false);
    const std::int64_t one = 1;
    for (std::size_t turn = 0; turn < static_cast<std::size_t>(worker.ranks()); ++turn) {
      worker.barrier();
      const bool turn_here = worker.rank().value() == static_cast<std::int32_t>(turn);
      if (turn_here && worker.local_index() == 0) {
        Lease lease = worker.lease(table, keys);
        const auto values = lease.values(table);
        const std::int64_t pushed = values[0][0];
        const std::int64_t fetched = values[2][0];
        held.store(turn + 1);
        while (asked.load() != turn + 1) std::this_thread::yield();
        expect(values[0][0] == pushed && values[2][0] == fetched, "no other worker writes to a leased key");
        values[1][0] = 1000 + static_cast<std::int64_t>(turn);
        lease.release();
      } else {
        while (turn_here && held.load() != turn + 1) std::this_thread::yield();
        // Operations of every kind, on this and other ranks; all are answered eventually.
        std::vector<std::int64_t> row(kKeys);
        std::int64_t seen = 0;
        const std::vector<Key> third{Key(2)};
        Operation pull = worker.pull(table, keys, row);
        Operation push = worker.push(table, Key(0), std::span(&one, 1));
        Operation call = worker.call(table, fetch, third, {}, std::span(&seen, 1));
        Operation localize = worker.localize(table, keys);
        if (turn_here) {
          expect(!pull.done() && !push.done() && !call.done(), "not while they are leased");
          expect(!worker.pull_if_local(table, Key(5), std::span(&seen, 1)), "a leased key is not local");
          expect(!worker.update_if_local(table, Key(5), [](std::span<std::int64_t>) {}), "nor to update");
          asked.store(turn + 1);
        }
        pull.wait();
        push.wait();
        call.wait();
        localize.wait();
        expect(!turn_here || row[1] == 1000 + static_cast<std::int64_t>(turn), "what the holder wrote");
      }
      worker.barrier();
      std::vector<std::int64_t> row(kKeys);
      worker.pull(table, keys, row).wait();
      const auto operations = static_cast<std::int64_t>((turn + 1) * (worker.count() - 1));
      expect(row[0] == operations && row[2] == operations, "every operation has taken effect once");
    }
  });
}

TEST_CASE("A leased key stays while other ranks localize it, and goes when it is released") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(options_of(false));
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = keys_of(false);
    for (int round = 0; round < 30; ++round) {
      Operation localize = worker.localize(table, keys);
      Lease lease = worker.lease(table, keys);
      std::int64_t value = 0;
      for (const Key key : keys) {
        expect(worker.pull_if_local(table, key, std::span(&value, 1)), "local as long as the lease is held");
      }
      // The holder itself localizes keys that other workers wait for.
      worker.localize(table, keys);
      for (std::size_t i = 0; i < keys.size(); ++i) ++lease.values(table)[i][0];
      lease.release();
      localize.wait();
    }
    worker.barrier();
    std::vector<std::int64_t> values(kKeys);
    worker.pull(table, keys, values).wait();
    expect(values == std::vector<std::int64_t>(kKeys, 30 * worker.ranks()), "exact counts");
    worker.barrier();
    lapse::test::expect_one_owner_each(worker, table);
  });
}

TEST_CASE("A worker that throws while it holds a lease fails every rank; no worker waits for its keys") {
  for (const bool release_by_unwinding : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<std::int64_t>(options_of(false));
    std::vector<std::unique_ptr<Lease>> kept(2);
    const std::string text = thrown_text<PeerFailed>([&] {
      server.run_workers(2, [&](Worker& worker) {
        const auto keys = keys_of(false);
        const std::size_t last = worker.count() - 1;
        if (worker.index() == last) {
          auto lease = std::make_unique<Lease>(worker.lease(table, keys));
          worker.localize(table, keys);
          if (!release_by_unwinding) kept[worker.local_index()] = std::move(lease);
          throw std::runtime_error("under a lease");
        }
        for (;;) {
          const Lease lease = worker.lease(table, keys);
          ++lease.values(table)[0][0];
        }
      });
    });
    CHECK(contains(text, "under a lease"));
    kept.clear();
    server.close();
  }
}

// Leases, from the holder's point of view.
#include <mpi.h>

#include <functional>
#include <optional>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
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

constexpr std::uint64_t kKeys = 40;

// Each worker's own keys, far apart.
std::vector<Key> own_keys(const Worker& worker) {
  std::vector<Key> keys;
  for (std::uint64_t key = worker.index(); key < kKeys; key += worker.count()) keys.emplace_back(key);
  return keys;
}

}  // namespace

TEST_CASE("A lease of several tables gives their values as memory; keys may repeat") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto dense =
      server.create_table<float>({.keys = kKeys, .length = 2, .initialiser = Initialiser::constant(1)});
  const auto sparse =
      server.create_table<std::int64_t>({.sparse = true, .initialiser = Initialiser::constant(4)});
  const auto rows =
      server.create_table<double>({.keys = kKeys, .lengths = [](Key key) { return 1 + key.value(); }});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = own_keys(worker);
    // In descending order, and each twice.
    std::vector<Key> repeated(keys.rbegin(), keys.rend());
    repeated.insert(repeated.end(), keys.begin(), keys.end());
    {
      const Lease lease =
          worker.lease({LeaseKeys(sparse, keys), LeaseKeys(dense, repeated), LeaseKeys(rows, keys)});
      expect(lease.held(), "held");
      const auto a = lease.values(dense);
      const auto b = lease.values(sparse);
      const auto c = lease.values(rows);
      expect(a.size() == repeated.size() && b.size() == keys.size() && c.size() == keys.size(), "sizes");
      for (std::size_t i = 0; i < keys.size(); ++i) {
        expect(a[i].data() == a[repeated.size() - 1 - i].data(), "one memory for a repeated key");
        expect(a[i].size() == 2 && a[i][0] == 1 && b[i][0] == 4, "initial values");
        expect(c[i].size() == 1 + keys[i].value(), "length of its own");
        a[i][1] = static_cast<float>(repeated[i].value());
        b[i][0] += 1;
        c[i].back() = 8;
      }
    }
    worker.barrier();
    std::vector<float> values(2 * kKeys);
    worker.pull(dense, key_range(0, kKeys), values).wait();
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      expect(values[2 * key] == 1 && values[2 * key + 1] == static_cast<float>(key), "written in the lease");
      std::int64_t count = 0;
      worker.pull(sparse, Key(key), std::span(&count, 1)).wait();
      expect(count == 5, "sparse keys that did not exist were made");
      std::vector<double> row(1 + key);
      worker.pull(rows, Key(key), row).wait();
      expect(row.back() == 8, "the last element of a row");
    }
  });
  const Statistics statistics = server.statistics();
  CHECK(statistics.table_total(sparse.id()).keys_here == kKeys);
}

TEST_CASE("Under a lease pull_if_local and localize work, everything else is refused, and it is still held") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  const auto function =
      server.register_function<std::int64_t>("nothing", [](Key, std::span<std::int64_t>) {});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = own_keys(worker);
    std::vector<std::int64_t> row(1, 5);
    std::vector<std::int64_t> values(keys.size());
    std::vector<double> numbers(1);
    Lease lease = worker.lease(table, keys);
    lease.values(table)[0][0] = 77;
    const std::vector<std::function<void()>> calls{
        [&] { worker.pull(table, keys[0], row).wait(); },
        [&] { worker.pull(table, keys, values).wait(); },
        [&] { worker.push(table, keys[0], row); },
        [&] { worker.push(table, keys, values); },
        [&] { worker.set(table, keys[0], row); },
        [&] { worker.call(table, function, keys); },
        [&] { worker.update_if_local(table, keys[0], [](std::span<std::int64_t>) {}); },
        [&] { worker.for_each_local(table, [](Key, std::span<const std::int64_t>) {}); },
        [&] { static_cast<void>(worker.lease(table, keys)); },
        [&] { static_cast<void>(worker.lease({})); },
        [&] { worker.wait_all(); },
        [&] { worker.barrier(); },
        [&] { worker.all_reduce(std::span<double>(numbers)); },
        [&] { worker.broadcast(std::as_writable_bytes(std::span(numbers))); },
    };
    for (const auto& call : calls) {
      expect(contains(thrown_text<UsageError>(call), "lease"), "the reason");
      expect(lease.held() && lease.values(table)[0][0] == 77, "still held");
    }
    expect(worker.pull_if_local(table, keys[0], row) && row[0] == 77, "a leased key");
    // Meanwhile other keys may be relocated to this rank, but must not be waited for.
    std::vector<Operation> localizes;
    const auto all = key_range(0, kKeys);
    localizes.push_back(worker.localize(table, all));
    localizes.push_back(worker.localize(table, keys));
    worker.localize(table, Key((keys[0].value() + 1) % kKeys));
    for (const Key key : all) {
      if (worker.pull_if_local(table, key, row)) expect(row[0] == 0 || row[0] == 77, "value of some key");
    }
    lease.release();
    expect(!lease.held(), "released");
    lease.release();
    thrown_text<UsageError>([&] { lease.values(table); });
    for (Operation& localize : localizes) localize.wait();
    worker.pull(table, keys[0], row).wait();
    expect(row[0] == 77, "what was written");
    worker.barrier();
  });
}

TEST_CASE("Leases move; the last handle releases") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = own_keys(worker);
    Lease first = worker.lease(table, keys);
    Lease second = std::move(first);
    expect(!first.held() && second.held(), "moved");
    first.release();
    expect(second.held(), "the moved handle releases nothing");
    ++second.values(table)[0][0];
    first = std::move(second);
    expect(first.held() && !second.held(), "moved back");
    ++first.values(table)[0][0];
    const auto refused = [&] { worker.barrier(); };
    thrown_text<UsageError>(refused);
    { const Lease inner = std::move(first); }
    expect(!first.held(), "gone");
    // Now another lease can be taken, also by assignment to the handle of an ended lease.
    first = worker.lease(table, keys);
    expect(first.values(table)[0][0] == 2, "what was written");
    first.release();
    worker.barrier();
  });
}

TEST_CASE("An empty lease is one, too; tables without keys have no values") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  server.run_workers(2, [&](Worker& worker) {
    {
      const Lease nothing = worker.lease({});
      expect(nothing.held(), "held");
      thrown_text<UsageError>([&] { nothing.values(table); });
      thrown_text<UsageError>([&] { worker.barrier(); });
    }
    {
      const Lease no_keys = worker.lease(table, std::vector<Key>());
      expect(no_keys.values(table).size() == 0, "no values");
    }
    worker.barrier();
  });
}

TEST_CASE("A lease that is carried out of the worker's function ends with the worker") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  for (int phase = 0; phase < 3; ++phase) {
    std::vector<std::optional<Lease>> kept(2);
    server.run_workers(2, [&](Worker& worker) {
      Lease lease = worker.lease(table, own_keys(worker));
      lease.values(table)[0][0] += 1;
      kept[worker.local_index()] = std::move(lease);
    });
    for (const auto& lease : kept) CHECK(!lease->held());
    CHECK_THROWS_AS(kept[0]->values(table), UsageError);
    kept[0]->release();
  }
  server.run_workers(1, [&](Worker& worker) {
    std::vector<std::int64_t> values(kKeys);
    worker.pull(table, key_range(0, kKeys), values).wait();
    std::int64_t sum = 0;
    for (const std::int64_t value : values) sum += value;
    expect(sum == 3 * 2 * worker.ranks(), "what the leases wrote");
  });
}

TEST_CASE("A lease waits for the worker's own operations on its keys") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = own_keys(worker);
    const std::vector<std::int64_t> ones(keys.size(), 1);
    std::vector<std::int64_t> pulled(keys.size());
    for (int round = 0; round < 20; ++round) {
      worker.push(table, keys, ones);
      const Operation pull = worker.pull(table, keys, pulled);
      worker.push(table, keys, ones);
      const Lease lease = worker.lease(table, keys);
      const auto values = lease.values(table);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        expect(values[i][0] == 2 * round + 2, "own pushes");
        expect(pull.done() && pulled[i] == 2 * round + 1, "own pulls");
      }
    }
  });
}

TEST_CASE("A lease fails as a whole when one of its keys cannot be made, and holds nothing then") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  TableOptions options{.sparse = true, .home = HomeMapKind::custom};
  options.home_function = [ranks](Key key) { return static_cast<std::int32_t>(key.value() / 100) % ranks; };
  options.initialiser = Initialiser::function<std::int64_t>([](Key key, std::span<std::int64_t> value) {
    if (key.value() % 100 == 50) throw std::runtime_error("no value");
    value[0] = 0;
  });
  const auto table = server.create_table<std::int64_t>(options);
  server.run_workers(2, [&](Worker& worker) {
    // The home is this rank, so that no other rank is asked.
    const std::uint64_t first = 100 * static_cast<std::uint64_t>(worker.rank().value());
    const std::vector<Key> good{Key(first + 10), Key(first + 60)};
    const std::vector<Key> bad{Key(first + 10), Key(first + 50), Key(first + 60)};
    for (int i = 0; i < 50; ++i) {
      const std::string text =
          thrown_text<UserCodeFailed>([&] { static_cast<void>(worker.lease(table, bad)); });
      expect(contains(text, "no value"), text);
      const Lease lease = worker.lease(table, good);
      for (std::size_t k = 0; k < good.size(); ++k) ++lease.values(table)[k][0];
    }
    worker.barrier();
    std::vector<std::int64_t> values(2);
    worker.pull(table, good, values).wait();
    expect(values == std::vector<std::int64_t>{100, 100}, "both workers had the keys fifty times");
  });
  server.close();
}

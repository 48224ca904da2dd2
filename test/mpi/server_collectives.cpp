#include <mpi.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;

namespace {

// Rank r has r + 1 workers, except that the second of several ranks has none.
std::int32_t uneven_workers(Rank rank) {
  return rank == Rank(1) ? 0 : rank.value() + 1;
}
std::size_t uneven_total(std::int32_t ranks) {
  std::size_t total = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    total += static_cast<std::size_t>(uneven_workers(Rank(rank)));
  }
  return total;
}

}  // namespace

TEST_CASE("Workers are numbered rank by rank, also where ranks have different numbers of them or none") {
  ParameterServer server(MPI_COMM_WORLD);
  server.run_workers(uneven_workers(server.rank()), [&](Worker& worker) {
    expect(worker.count() == uneven_total(server.ranks()), "count");
    expect(worker.local_count() == static_cast<std::size_t>(uneven_workers(server.rank())), "local count");
    expect(worker.rank() == server.rank() && worker.ranks() == server.ranks(), "rank and ranks");
    expect(worker.index() == uneven_total(server.rank().value()) + worker.local_index(), "index");
    std::vector<std::int64_t> seen(worker.count());
    seen[worker.index()] = 1;
    worker.all_reduce(std::span<std::int64_t>(seen));
    expect(seen == std::vector<std::int64_t>(worker.count(), 1), "every index once");
  });
}

TEST_CASE("Each worker has a clock, which continues from phase to phase") {
  ParameterServer server(MPI_COMM_WORLD);
  for (std::int64_t phase = 0; phase < 3; ++phase) {
    server.run_workers(2, [&](Worker& worker) {
      const auto steps = static_cast<std::int64_t>(worker.local_index()) + 1;
      expect(worker.current_clock() == Clock(phase * steps), "the clock of the phase before");
      for (std::int64_t step = 0; step < steps; ++step) worker.advance_clock();
      expect(worker.current_clock() == Clock((phase + 1) * steps), "a clock that was advanced");
    });
  }
}

TEST_CASE("all_reduce gives sum, minimum and maximum to every worker") {
  ParameterServer server(MPI_COMM_WORLD);
  server.run_workers(uneven_workers(server.rank()), [&](Worker& worker) {
    const auto index = static_cast<double>(worker.index());
    const auto count = static_cast<double>(worker.count());
    std::vector<double> values{index, -index, 1};
    worker.all_reduce(std::span<double>(values));
    expect(values == std::vector<double>{count * (count - 1) / 2, -count * (count - 1) / 2, count}, "sum");
    values = {index, -index, 1};
    worker.all_reduce(std::span<double>(values), Reduce::min);
    expect(values == std::vector<double>{0, 1 - count, 1}, "minimum");
    values = {index, -index, 1};
    worker.all_reduce(std::span<double>(values), Reduce::max);
    expect(values[0] == count - 1 && values[1] == 0 && values[2] == 1, "maximum");

    constexpr std::int64_t kLarge = std::int64_t{1} << 53;
    std::vector<std::int64_t> integers{kLarge + 1, static_cast<std::int64_t>(worker.index())};
    worker.all_reduce(std::span<std::int64_t>(integers), Reduce::max);
    expect(integers[0] == kLarge + 1 && integers[1] == static_cast<std::int64_t>(worker.count()) - 1,
           "integers are not rounded");
    std::vector<double> none;
    worker.all_reduce(std::span<double>(none));
    std::vector<double> many(20'000, 1);
    worker.all_reduce(std::span<double>(many));
    expect(many == std::vector<double>(20'000, count), "many values");
  });
}

TEST_CASE("Sums of floating-point numbers are the same on every worker and in every round, bit for bit") {
  ParameterServer server(MPI_COMM_WORLD);
  server.run_workers(3, [&](Worker& worker) {
    const PositionalRandom random(1);
    std::vector<double> first(50);
    for (int round = 0; round < 30; ++round) {
      std::vector<double> values(50);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::exp(20 * random.normal(Key(worker.index()), i));
      }
      worker.all_reduce(std::span<double>(values));
      if (round == 0) {
        first = values;
        worker.broadcast(std::as_writable_bytes(std::span(first)));
      }
      expect(std::memcmp(values.data(), first.data(), 50 * sizeof(double)) == 0,
             "the same sum on every rank");
    }
  });
}

TEST_CASE("broadcast gives every worker the bytes of its root") {
  ParameterServer server(MPI_COMM_WORLD);
  server.run_workers(uneven_workers(server.rank()), [&](Worker& worker) {
    for (std::size_t root = 0; root < worker.count(); ++root) {
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
        std::vector<std::byte> values(bytes, static_cast<std::byte>(worker.index() + 1));
        worker.broadcast(values, root);
        expect(values == std::vector<std::byte>(bytes, static_cast<std::byte>(root + 1)),
               "bytes of the root");
      }
    }
  });
}

TEST_CASE(
    "No worker passes a barrier before all workers have come, and the pushes of all are seen behind it") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = 7});
  server.run_workers(3, [&](Worker& worker) {
    std::vector<std::int64_t> value(table.length());
    const std::vector<std::int64_t> one{1};
    for (std::int64_t round = 1; round <= 50; ++round) {
      const Key key(static_cast<std::uint64_t>(round) % 7);
      if (worker.index() == static_cast<std::size_t>(round) % worker.count()) worker.localize(table, key);
      worker.push(table, key, one);
      worker.barrier();
      worker.pull(table, key, value).wait();
      const auto number = static_cast<std::int64_t>(key.value());
      const std::int64_t rounds = (round - number) / 7 + (number == 0 ? 0 : 1);
      expect(value[0] == rounds * static_cast<std::int64_t>(worker.count()),
             "pushes of this and earlier rounds");
      worker.barrier();
    }
  });
}

TEST_CASE("Behind a sync_barrier all pushes are seen, whatever calls there are before and after it") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = 7});
  for (int phase = 0; phase < 3; ++phase) {
    server.run_workers(uneven_workers(server.rank()), [&](Worker& worker) {
      std::vector<Key> keys;
      for (std::uint64_t key = 0; key < 7; ++key) keys.push_back(Key(key));
      std::vector<std::int64_t> values(7);
      const std::vector<std::int64_t> ones(7, 1);
      for (std::int64_t round = 1; round <= 20; ++round) {
        worker.localize(table, keys);
        worker.push(table, keys, ones);
        worker.sync_barrier();
        worker.pull(table, keys, values).wait();
        const auto pushes = (20 * phase + round) * static_cast<std::int64_t>(worker.count());
        expect(values == std::vector<std::int64_t>(7, pushes), "pushes of all workers");
        if (round % 3 == 0) worker.sync_barrier();
        if (round % 5 == 0) worker.barrier();
        std::vector<std::int64_t> workers{1};
        worker.all_reduce(std::span<std::int64_t>(workers));
        expect(workers[0] == static_cast<std::int64_t>(worker.count()), "a sum behind it");
      }
    });
  }
}

TEST_CASE("Phases follow each other quickly, with other numbers of workers each time") {
  ParameterServer server(MPI_COMM_WORLD);
  for (int phase = 0; phase < 60; ++phase) {
    std::atomic<int> calls{0};
    const std::int32_t workers = (phase + server.rank().value()) % 3;
    const bool any = server.ranks() > 1 || workers > 0;
    if (!any) continue;
    server.run_workers(workers, [&](Worker& worker) {
      calls.fetch_add(1);
      if (phase % 2 == 0) worker.barrier();
    });
    CHECK(calls == workers);
  }
}

// Relocations per second: keys of 25 floats that go back and forth between ranks 0 and 1, in random order.
//
//   case                        ranks  keys of a run  plain twin
//   batch 1 waiting               2         20,000    MPI messages carrying the same bytes: request, answer
//   batch 100 waiting             2        200,000    the same
//   batch 10000 waiting           2        500,000    the same
//   batch 1 async                 2         20,000    the same, a hundred requests under way at once
//   batch 100 async               2        200,000    the same, twenty requests under way at once
//   batch 10000 async             2        500,000    the same, five requests under way at once
//   three ranks batch 1 waiting   3         20,000    the same in a triangle: request, request, answer
//   N ranks fighting batch B     2, 3, 4   see relocation_fights.hpp                          none
//   tcp batch 1 waiting           2         10,000    MPI messages carrying the same bytes: request, answer
//   tcp batch 10000 async         2        500,000    MPI messages of 1 MiB with the same bytes, one way
//   tcp batch 10000 async 1 KB    2        100,000    the same; values of 256 floats
//
// One rank localizes all keys, batch by batch, while the other waits in a barrier, where it helps; then they
// change roles. "waiting": each batch is waited for before the next; "async": so many batches are under way
// before the first is waited for. The metric is the rate at which keys arrive while one rank asks, the time
// between the turns left out. Homes are spread over both ranks; in the case of three ranks they are all at
// rank 2, which waits, so that home, owner and requester are different. 20 runs.
//
// tcp: the cases when the two ranks are on different hosts, where the others are not run. Their metric
// bandwidth is the rate times the bytes of a key and its value.
#include <mpi.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "bench/relocation_fights.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/hosts.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"
#include "bench/tcp_relocation.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 20;

struct RelocationCase {
  std::string name;
  std::int32_t ranks;
  std::size_t keys;   // of the table
  std::size_t turns;  // of localizing all of them, in a run; even
  std::size_t batch;
  std::size_t under_way;  // batches; 1: each is waited for
};

const std::vector<RelocationCase> kCases = {
    {"batch 1 waiting", 2, 10'000, 2, 1, 1},
    {"batch 100 waiting", 2, 10'000, 20, 100, 1},
    {"batch 10000 waiting", 2, 50'000, 10, 10'000, 1},
    {"batch 1 async", 2, 10'000, 2, 1, 100},
    {"batch 100 async", 2, 10'000, 20, 100, 20},
    {"batch 10000 async", 2, 50'000, 10, 10'000, 5},
    {"three ranks batch 1 waiting", 3, 10'000, 2, 1, 1},
};

class Relocation {
 public:
  explicit Relocation(Bench& bench) : bench_(bench), server_(MPI_COMM_WORLD, separate_options()) {}

  void measure(const RelocationCase& what) {
    const std::uint64_t count = bench_.size(what.keys, what.batch * std::max<std::size_t>(5, what.under_way));
    const bool three = what.ranks == 3;
    const auto table = server_.create_table<float>({.name = what.name,
                                                    .keys = three ? 3 * count : count,
                                                    .length = kLength,
                                                    .home = three ? HomeMapKind::range : HomeMapKind::hash});
    // Of three ranks, rank 2 is the home of the last third.
    const std::vector<Key> keys = shuffled_keys(three ? 2 * count : 0, count, 0);
    const std::size_t turns = bench_.size(what.turns, 2);
    const auto moves = static_cast<double>(turns * count);

    server_.run_workers(1, [&](Worker& worker) {
      if (worker.rank() == Rank(1)) worker.localize(table, keys).wait();
    });
    counted_ -= relocations(table);
    bench_.measure(
        {what.name, "rate", "keys/s", what.ranks, 1, domain_of(server_.options())}, kRuns,
        [&] { return moves / run(what, table, keys, turns); }, "MPI messages",
        [&] { return moves / (static_cast<double>(turns) * plain_turn(what, count)); });
    counted_ += relocations(table);
    expected_ += (bench_.runs(kRuns) + 1) * turns * count;
  }

  void close() {
    server_.close();
    expect_count("relocations", counted_, expected_);
  }

 private:
  // Collective. Seconds in which one of the ranks localized.
  double run(const RelocationCase& what, const Table<float>& table, std::span<const Key> keys,
             std::size_t turns) {
    double seconds = 0;
    server_.run_workers(1, [&](Worker& worker) {
      for (std::size_t turn = 0; turn < turns; ++turn) {
        worker.barrier();
        if (worker.index() == turn % 2) seconds += localize_all(worker, what, table, keys);
      }
    });
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_SUM, bench_.plain());
    return seconds;
  }

  static double localize_all(Worker& worker, const RelocationCase& what, const Table<float>& table,
                             std::span<const Key> keys) {
    std::vector<Operation> under_way;
    under_way.reserve(what.under_way);
    const Clock::time_point begin = Clock::now();
    while (!keys.empty()) {
      for (std::size_t i = 0; i < what.under_way; ++i) {
        under_way.push_back(worker.localize(table, keys.first(what.batch)));
        keys = keys.subspan(what.batch);
      }
      for (Operation& operation : under_way) operation.wait();
      under_way.clear();
    }
    return seconds_between(begin, Clock::now());
  }

  // Collective. Seconds for messages with the payload of one turn; those of rank 0 count.
  double plain_turn(const RelocationCase& what, std::size_t keys) const {
    const MessagePair messages{what.batch * kKeyBytes, what.batch * (kKeyBytes + kValueBytes)};
    const std::size_t batches = keys / what.batch;
    if (what.ranks == 3) return triangle(bench_.plain(), batches, messages);
    if (what.under_way == 1) return ping_pong(bench_.plain(), batches, messages);
    double seconds = 0;
    for (std::size_t done = 0; done < batches; done += what.under_way) {
      seconds += pipelined_ping_pong(bench_.plain(), what.under_way, messages);
    }
    return seconds;
  }

  std::uint64_t relocations(const Table<float>& table) {
    return server_.statistics().table_total(table.id()).relocations_in;
  }

  Bench& bench_;
  ParameterServer server_;
  std::uint64_t counted_ = 0;  // relocations while measuring
  std::uint64_t expected_ = 0;
};

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Relocations per second", [](Bench& bench) {
    if (bench.ranks() == 2 && on_different_hosts(bench.plain())) return measure_tcp_relocation(bench);
    Relocation relocation(bench);
    for (const RelocationCase& what : kCases) {
      if (what.ranks == bench.ranks() && bench.selected(what.name)) relocation.measure(what);
    }
    relocation.close();
    measure_fights(bench);
  });
}

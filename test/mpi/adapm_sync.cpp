// wait_sync and sync_barrier with replicas, and with ranks that are stopped, fail or have no workers.
#include <mpi.h>

#include <functional>
#include <numeric>
#include <optional>
#include <random>

#include "lapse/core/error.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/support/catch.hpp"
#include "test/support/stops_now_and_then.hpp"
#include "test/support/thrown_text.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::Lease;
using lapse::PeerFailed;
using lapse::Rank;
using lapse::test::contains;
using lapse::test::copied_keys;
using lapse::test::copied_table;
using lapse::test::copies_by_intents;
using lapse::test::expect;
using lapse::test::make_local;
using lapse::test::options_of;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 20;

// While workers run, MPI is called only under the lock of the process.
void barrier_of_ranks() {
  lapse::barrier_polled(lapse::MpiLock::of_process(), MPI_COMM_WORLD);
}

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Workers push random integers to random keys. Then every worker waits for its replicas: after a barrier the
// main copies hold every push, and after a second wait all replicas do too.
class Rounds {
 public:
  // `announces`: random intents move main copies. `moves`: ranks without workers may hold main copies, which
  // no worker visits then.
  Rounds(const lapse::Table<std::int64_t>& table, std::int32_t ranks, bool announces, bool moves)
      : table_(table), keys_(copied_keys(false, kKeys, ranks)), announces_(announces), moves_(moves) {}

  void run(IntentWorker& worker, int rounds, std::uint64_t seed) const {
    std::mt19937_64 random(seed * 1000 + worker.index());
    for (int round = 0; round < rounds; ++round) {
      if (announces_) announce(worker, random);
      push(worker, random);
      worker.wait_sync();
      worker.barrier();
      // No worker pushes before all have read.
      std::vector<std::int64_t> pushed{pushed_[worker.index()], 0};
      if (worker.local_index() == 0)
        worker.for_each_local(table_,
                              [&](Key, std::span<const std::int64_t> value) { pushed[1] += value[0]; });
      worker.all_reduce(std::span<std::int64_t>(pushed));
      expect(moves_ || pushed[1] == pushed[0], "all pushes in the main copies, " + std::to_string(pushed[0]) +
                                                   ", found " + std::to_string(pushed[1]));
      worker.wait_sync();
      std::vector<std::int64_t> values(kKeys);
      worker.pull(table_, keys_, values).wait();
      const std::int64_t total = std::accumulate(values.begin(), values.end(), std::int64_t{0});
      expect(total == pushed[0],
             "all pushes in the copies, " + std::to_string(pushed[0]) + ", found " + std::to_string(total));
      std::vector<std::int64_t> greatest(values);
      worker.all_reduce(std::span<std::int64_t>(greatest), lapse::Reduce::max);
      expect(values == greatest, "equal copies");
      worker.barrier();
    }
  }

 private:
  void announce(IntentWorker& worker, std::mt19937_64& random) const {
    for (int i = 0; i < 4; ++i) {
      const auto start = Clock(worker.current_clock().value() + static_cast<std::int64_t>(random() % 4));
      worker.intent(table_, keys_[random() % kKeys], start, Clock(start.value() + 3));
    }
    worker.advance_clock();
  }
  void push(IntentWorker& worker, std::mt19937_64& random) const {
    for (int i = 0; i < 50; ++i) {
      const auto more = static_cast<std::int64_t>(random() % 100);
      worker.push(table_, keys_[random() % kKeys], std::vector<std::int64_t>{more});
      pushed_[worker.index()] += more;
    }
  }

  const lapse::Table<std::int64_t> table_;
  const std::vector<Key> keys_;
  const bool announces_;
  const bool moves_;
  mutable std::vector<std::int64_t> pushed_ = std::vector<std::int64_t>(64);  // by worker
};

void check_failed(const std::function<void(IntentWorker&, const lapse::Table<std::int64_t>&)>& f,
                  std::string_view expected) {
  ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
  const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
  const std::string text = thrown_text<PeerFailed>([&] {
    manager.run_workers(1, [&](IntentWorker& worker) {
      make_local(worker, table, copied_keys(false, kKeys, worker.ranks()));
      f(worker, table);
    });
  });
  INFO(text);
  CHECK(contains(text, expected));
  manager.close();
}

}  // namespace

TEST_CASE("After wait_sync pushes are in the main copies, and copies are as new as those") {
  std::optional<lapse::test::StopsNowAndThen> stops;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank_of_world() == ranks - 1) {
    stops.emplace(5);
    REQUIRE(stops->begun());
  }
  int goes_on = 1;
  for (std::uint64_t seed = 1; goes_on != 0; ++seed) {
    Options options = copies_by_intents();
    const bool announces = seed % 2 == 0;
    if (announces) options.technique = Technique::adaptive;
    ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, ranks));
    const Rounds rounds(table, ranks, announces, announces);
    manager.run_workers(seed % 3 == 0 ? 2 : 1, [&](IntentWorker& worker) {
      if (!announces) make_local(worker, table, copied_keys(false, kKeys, ranks));
      rounds.run(worker, 10, seed);
    });
    manager.close();
    goes_on = stops && !stops->finished() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &goes_on, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
}

TEST_CASE("wait_sync of a few workers, in a phase with ranks that have none") {
  for (const int parity : {0, 1}) {
    ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
    const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
    const Rounds rounds(table, manager.ranks(), false, true);
    manager.run_workers(rank_of_world() % 2 == parity ? 2 : 0, [&](IntentWorker& worker) {
      make_local(worker, table, copied_keys(false, kKeys, worker.ranks()));
      rounds.run(worker, 20, 1);
      // The other workers wait in a barrier.
      if (worker.index() == 0) {
        for (int i = 0; i < 20; ++i) {
          worker.push(table, Key(static_cast<std::uint64_t>(i)), std::vector<std::int64_t>{1});
          worker.wait_sync();
        }
      }
      worker.barrier();
    });
    manager.close();
  }
}

TEST_CASE("Behind a sync_barrier of a group every replica shows every update of the group") {
  Options options = options_of(Technique::full_replication);
  options.server.domain = {lapse::DomainChoice::Kind::rank, 1};
  ParameterManager manager(MPI_COMM_WORLD, options);
  const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
  const std::vector<Key> keys = copied_keys(false, kKeys, manager.ranks());
  manager.run_workers(1, [&](IntentWorker& worker) { make_local(worker, table, keys); });
  const std::vector<lapse::GroupPart> parts{
      {.workers = 2,
       .work =
           [&](lapse::Worker& worker) {
             std::vector<std::int64_t> values(kKeys);
             for (int step = 1; step <= 20; ++step) {
               worker.push(table, keys, std::vector<std::int64_t>(kKeys, 1));
               worker.sync_barrier();
               for (const Key key : keys)
                 expect(worker.locality(table, key) == lapse::Locality::local, "a replica");
               worker.pull(table, keys, values).wait();
               const auto sum = static_cast<std::int64_t>(worker.count()) * step;
               expect(values == std::vector<std::int64_t>(kKeys, sum), "what the group has pushed");
               worker.barrier();
             }
           }},
      {.workers = 1, .work = [](lapse::Worker& worker) { worker.barrier(); }},
  };
  const std::vector<lapse::GroupEnd> ends = manager.server().run_groups(parts);
  CHECK_FALSE(ends[0].failure);
  CHECK_FALSE(ends[1].failure);
  manager.close();
}

TEST_CASE("A worker that fails ends the wait_sync and the sync_barrier of others") {
  check_failed(
      [](IntentWorker& worker, const lapse::Table<std::int64_t>&) {
        if (worker.index() + 1 == worker.count()) throw std::runtime_error("before the sync_barrier");
        worker.sync_barrier();
      },
      "before the sync_barrier");
  check_failed(
      [](IntentWorker& worker, const lapse::Table<std::int64_t>& table) {
        for (int i = 0;; ++i) {
          worker.push(table, Key(static_cast<std::uint64_t>(i) % kKeys), std::vector<std::int64_t>{1});
          if (worker.index() + 1 == worker.count() && i == 50) throw std::runtime_error("between two waits");
          worker.wait_sync();
        }
      },
      "between two waits");
  // Replicas are not refreshed while their main copy is leased, so the other workers wait.
  check_failed(
      [](IntentWorker& worker, const lapse::Table<std::int64_t>& table) {
        const std::vector<Key> key{Key(0)};
        if (worker.index() + 1 == worker.count()) {
          const Lease lease = worker.lease(table, key);
          barrier_of_ranks();
          barrier_of_ranks();
          throw std::runtime_error("under the lease");
        }
        barrier_of_ranks();
        worker.push(table, Key(0), std::vector<std::int64_t>{1});
        barrier_of_ranks();
        worker.wait_sync();
        worker.barrier();
      },
      "under the lease");
}

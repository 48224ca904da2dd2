// The effect of each call of a worker on a key that is local as a replica.
#include <mpi.h>

#include <algorithm>
#include <type_traits>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/support/catch.hpp"
#include "test/support/summed_gradients.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::DomainMap;
using lapse::Element;
using lapse::Function;
using lapse::Key;
using lapse::Lease;
using lapse::Locality;
using lapse::Rank;
using lapse::Table;
using lapse::TableCounters;
using lapse::TableOptions;
using lapse::UpdateRule;
using lapse::test::copied_keys;
using lapse::test::copied_table;
using lapse::test::copies_by_intents;
using lapse::test::expect;
using lapse::test::make_local;

namespace {

constexpr std::uint64_t kKeys = 12;

struct Shape {
  bool sparse = false;
  bool own_lengths = false;
  bool gradients = false;
};

// Makes all calls on all keys, by all workers at once or by one worker. All sums are exact.
template <Element T>
class Calls {
 public:
  Calls(ParameterManager& manager, Shape shape)
      : shape_(shape),
        keys_(copied_keys(shape.sparse, kKeys, manager.ranks())),
        domains_(lapse::test::domains_of_world()),
        table_(manager.create_table<T>(options(manager.ranks(), shape))),
        add_(manager.server().register_function<T, T, T>("add", [](Key, std::span<T> value, T argument) {
          const T before = value[0];
          for (T& element : value) element += argument;
          return before;
        })) {}

  const Table<T>& table() const { return table_; }

  void run(IntentWorker& worker) {
    make_local(worker, table_, keys_);
    for (const Key key : keys_) expect(worker.locality(table_, key) == Locality::local, "a local key");
    push(worker);
    push_with_scale(worker);
    update_if_local(worker);
    set(worker);
    call(worker);
    for_each_local(worker);
    lease(worker);
    localize(worker);
  }

 private:
  static TableOptions options(std::int32_t ranks, Shape shape) {
    TableOptions options = copied_table(shape.sparse, kKeys, ranks);
    options.length = 3;
    if (shape.own_lengths) options.lengths = [](Key key) { return 1 + key.value() % 7; };
    if (shape.gradients) options.update_rule = UpdateRule::custom<T>(lapse::test::SummedGradients<T>());
    return options;
  }

  std::vector<T> row(Key key, T element) const { return std::vector<T>(table_.length(key), element); }
  std::vector<T> rows(T element) const {
    std::vector<T> rows;
    for (const Key key : keys_) rows.insert(rows.end(), table_.length(key), element);
    return rows;
  }
  bool is_copy(IntentWorker& worker, Key key) const {
    return !lapse::test::is_home(domains_, worker.rank(), shape_.sparse, key, worker.ranks());
  }
  static bool is_last(const IntentWorker& worker) { return worker.index() + 1 == worker.count(); }
  static T all(const IntentWorker& worker) { return static_cast<T>(worker.count()); }

  void expect_value(IntentWorker& worker, Key key, T expected, const std::string& what) {
    std::vector<T> value(table_.length(key));
    expect(worker.pull_if_local(table_, key, value), "a local key " + what);
    std::vector<T> pulled(value.size());
    worker.pull(table_, key, pulled).wait();
    expect(value == row(key, expected) && pulled == value, "the value " + std::to_string(expected) + " " +
                                                               what + ", found " + std::to_string(value[0]) +
                                                               " and " + std::to_string(pulled[0]));
  }
  // Collective over all workers: checks that all writes have arrived at every replica.
  void expect_everywhere(IntentWorker& worker, T more, const std::string& what) {
    worker.sync_barrier();
    if (worker.local_index() == 0) value_ += more;
    worker.barrier();
    for (const Key key : keys_) expect_value(worker, key, value_, what);
    std::vector<T> values(rows(0).size());
    worker.pull(table_, keys_, values).wait();
    expect(values == rows(value_), "the values of all keys " + what);
    worker.barrier();
  }

  // Writes in place, also to a replica. The worker sees its own writes at once.
  void push(IntentWorker& worker) {
    for (const Key key : keys_) {
      expect(worker.push(table_, key, row(key, 1)).done(), "a push to a copy in memory");
      std::vector<T> value(table_.length(key));
      expect(worker.pull_if_local(table_, key, value) && value[0] >= T{1}, "its own push at once");
    }
    expect(worker.push(table_, keys_, rows(2)).done(), "pushes to copies in memory");
    expect_everywhere(worker, static_cast<T>(3 * all(worker)), "after pushes");
  }

  // With Merge::gradient, scaled gradients are not summed: such a push is sent to the main copy.
  void push_with_scale(IntentWorker& worker) {
    if constexpr (std::is_floating_point_v<T>) {
      for (const Key key : keys_) {
        auto operation = worker.push(table_, key, row(key, 1), 2.0F);
        expect(shape_.gradients || operation.done(), "a push with a scale in memory");
        operation.wait();
        std::vector<T> value(table_.length(key));
        worker.pull(table_, key, value).wait();
        expect(value[0] >= value_ + T{2}, "its own push with a scale");
      }
      worker.push(table_, keys_, rows(3), 0.5F);
      expect_everywhere(worker, static_cast<T>(3.5 * static_cast<double>(all(worker))),
                        "after pushes with a scale");
    } else if (!shape_.gradients) {
      bool refused = false;
      try {
        worker.push(table_, keys_[0], row(keys_[0], 1), 2.0F);
      } catch (const lapse::UsageError&) {
        refused = true;
      }
      expect(refused, "integers accept no scale");
      worker.barrier();
    }
  }

  // With Merge::gradient, a replica cannot be changed in place.
  void update_if_local(IntentWorker& worker) {
    T expected = 0;
    for (const Key key : keys_) {
      const bool possible = !shape_.gradients || !is_copy(worker, key);
      const bool done = worker.update_if_local(table_, key, [](std::span<T> value) {
        for (T& element : value) element += 5;
      });
      expect(done == possible, "update_if_local on a copy only where differences are merged");
      if (!done) worker.push(table_, key, row(key, 5));
    }
    expected = static_cast<T>(5 * all(worker));
    expect_everywhere(worker, expected, "after update_if_local");
  }

  // Executed at the main copy. The answer contains the least version of a replica that the worker may read
  // then.
  void set(IntentWorker& worker) {
    if (is_last(worker)) {
      for (const Key key : keys_) {
        worker.set(table_, key, row(key, 70)).wait();
        std::vector<T> value(table_.length(key));
        worker.pull(table_, key, value).wait();
        expect(value == row(key, 70), "its own set");
      }
      worker.set(table_, keys_, rows(72));
      std::vector<T> values(rows(0).size());
      worker.pull(table_, keys_, values).wait();
      expect(values == rows(72), "its own set of all keys");
    }
    expect_everywhere(worker, static_cast<T>(72 - value_), "after set");
    // Changes that replicas have not sent yet are applied after a set.
    for (const Key key : keys_) worker.push(table_, key, row(key, 1));
    if (is_last(worker)) worker.set(table_, keys_, rows(70)).wait();
    worker.sync_barrier();
    std::vector<T> value;
    for (const Key key : keys_) {
      value.resize(table_.length(key));
      worker.pull(table_, key, value).wait();
      expect(value[0] >= T{70} && value[0] <= T{70} + all(worker), "a set and the pushes behind it");
    }
    worker.barrier();
    if (is_last(worker)) worker.set(table_, keys_, rows(70));
    expect_everywhere(worker, static_cast<T>(70 - value_), "after a set behind a sync_barrier");
  }

  void call(IntentWorker& worker) {
    for (const Key key : keys_) {
      std::vector<T> before(1);
      worker.push(table_, key, row(key, 1));
      worker.call(table_, add_, std::span(&key, 1), std::vector<T>{2}, before).wait();
      expect(before[0] >= value_ + T{1}, "a function that sees the worker's own push");
      std::vector<T> value(table_.length(key));
      worker.pull(table_, key, value).wait();
      expect(value[0] >= value_ + T{3}, "its own push and call");
    }
    expect_everywhere(worker, static_cast<T>(3 * all(worker)), "after calls");
  }

  // Visits main copies only: each key on exactly one rank, unless the rank that serves it has no workers.
  void for_each_local(IntentWorker& worker) {
    std::vector<std::int64_t> visits(keys_.size());
    worker.for_each_local(table_, [&](Key key, std::span<const T> value) {
      const auto found = std::ranges::find(keys_, key);
      expect(found != keys_.end() && value[0] == value_, "the value of a key");
      ++visits[static_cast<std::size_t>(found - keys_.begin())];
    });
    worker.all_reduce(std::span<std::int64_t>(visits));
    const auto expected = static_cast<std::int64_t>(worker.local_count());
    const bool all_ranks = worker.count() == worker.local_count() * static_cast<std::size_t>(worker.ranks());
    for (const std::int64_t visit : visits)
      expect(visit == expected || (!all_ranks && visit == 0), "each key visited by the workers of one rank");
  }

  // The main copy moves to this rank. Meanwhile other domains keep, read and write their replicas.
  void lease(IntentWorker& worker) {
    for (std::size_t turn = 0; turn < worker.count(); ++turn) {
      if (worker.index() == turn) {
        Lease lease = worker.lease(table_, keys_);
        for (std::size_t i = 0; i < keys_.size(); ++i) {
          for (T& element : lease.values(table_)[i]) element += 1;
        }
        lease.release();
        std::vector<T> value;
        for (const Key key : keys_) {
          value.resize(table_.length(key));
          worker.pull(table_, key, value).wait();
          expect(value[0] >= value_ + T{1}, "what it wrote under the lease");
        }
      } else {
        for (const Key key : keys_) worker.push(table_, key, row(key, 1));
      }
      worker.wait_all();
    }
    expect_everywhere(worker, static_cast<T>(all(worker) * all(worker)), "after leases");
  }

  // The main copy moves, while the worker writes to its replica.
  void localize(IntentWorker& worker) {
    for (int i = 0; i < 20; ++i) {
      worker.localize(table_, keys_[static_cast<std::size_t>(i) % keys_.size()]);
      for (const Key key : keys_) worker.push(table_, key, row(key, 1));
    }
    worker.wait_all();
    expect_everywhere(worker, static_cast<T>(20 * all(worker)), "after localize");
  }

  const Shape shape_;
  const std::vector<Key> keys_;
  const DomainMap domains_;
  const Table<T> table_;
  const Function<T, T, T> add_;
  T value_ = 0;  // of every element of every key; written by the first worker between barriers
};

template <Element T>
void check(std::int32_t workers, Shape shape) {
  ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
  Calls<T> calls(manager, shape);
  INFO("sparse " << shape.sparse << " own lengths " << shape.own_lengths << " gradients " << shape.gradients);
  manager.run_workers(workers, [&](IntentWorker& worker) { calls.run(worker); });
  const TableCounters total = manager.statistics().server.table_total(calls.table().id());
  const bool several = shape.sparse ? manager.ranks() > 1 : lapse::test::domains_of_world().domains() > 1;
  CHECK((total.copy_pulls > 0) == several);
  CHECK((total.copy_pushes > 0) == several);
  CHECK(total.declined_copies == 0);
  // Intents end with their phase.
  CHECK(total.copies_here == 0);
  CHECK(total.keys_here == kKeys);
  manager.close();
}

}  // namespace

TEMPLATE_TEST_CASE("Every call does on copies what it does on main copies, a little later everywhere", "",
                   std::int32_t, std::int64_t, float, double) {
  for (const bool sparse : {false, true}) {
    for (const bool gradients : {false, true})
      check<TestType>(1, {.sparse = sparse, .own_lengths = sparse != gradients, .gradients = gradients});
  }
}

TEST_CASE("Neighbours use copies that a rank without workers serves") {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const bool gradients : {false, true}) {
    check<double>(rank % 2 == 0 ? 0 : 2, {.gradients = gradients});
    if (ranks > 2) check<std::int64_t>(rank % 2 == 0 ? 2 : 0, {.gradients = gradients});
  }
}

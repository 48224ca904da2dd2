#include "bench/relocation_turns.hpp"

#include <mpi.h>

#include <algorithm>
#include <span>

#include "bench/support/joint_timer.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

// Returns the seconds in which the worker localized all keys.
double localize_all(Worker& worker, const RelocationCase& what, const Table<float>& table,
                    std::span<const Key> keys) {
  std::vector<Operation> in_flight;
  in_flight.reserve(what.in_flight);
  const Clock::time_point begin = Clock::now();
  while (!keys.empty()) {
    for (std::size_t i = 0; i < what.in_flight; ++i) {
      in_flight.push_back(worker.localize(table, keys.first(what.batch)));
      keys = keys.subspan(what.batch);
    }
    for (Operation& operation : in_flight) operation.wait();
    in_flight.clear();
  }
  return seconds_between(begin, Clock::now());
}

}  // namespace

RelocationTurns::Keys RelocationTurns::prepare(const RelocationCase& what) {
  const std::uint64_t count = bench_.size(what.keys, what.batch * std::max<std::size_t>(5, what.in_flight));
  const bool three = what.ranks == 3;
  // With three ranks, rank 2 is the home of the last third.
  Keys keys{server_.create_table<float>({.name = what.name,
                                         .keys = three ? 3 * count : count,
                                         .length = what.length,
                                         .home = three ? HomeMapKind::range : HomeMapKind::hash}),
            shuffled_keys(three ? 2 * count : 0, count, 0), bench_.size(what.turns, 2)};
  server_.run_workers(1, [&](Worker& worker) {
    if (worker.rank() == Rank(1)) worker.localize(keys.table, keys.keys).wait();
  });
  counted_ -= relocations(keys);
  return keys;
}

double RelocationTurns::rate(const RelocationCase& what, const Keys& keys) {
  double seconds = 0;
  server_.run_workers(1, [&](Worker& worker) {
    for (std::size_t turn = 0; turn < keys.turns; ++turn) {
      worker.barrier();
      if (worker.index() == turn % 2) seconds += localize_all(worker, what, keys.table, keys.keys);
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_SUM, bench_.plain());
  expected_ += keys.turns * keys.keys.size();
  return static_cast<double>(keys.turns * keys.keys.size()) / seconds;
}

void RelocationTurns::finish(const Keys& keys) {
  counted_ += relocations(keys);
}

void RelocationTurns::close() {
  server_.close();
  expect_count("relocations", counted_, expected_);
}

std::uint64_t RelocationTurns::relocations(const Keys& keys) {
  return server_.statistics().table_total(keys.table.id()).relocations_in;
}

double moved_rate(PlainMove& plain, const RelocationCase& what, const RelocationTurns::Keys& keys) {
  const double seconds =
      plain.move_all(keys.keys, {.count = keys.turns, .batch = what.batch, .in_flight = what.in_flight});
  return static_cast<double>(keys.turns * keys.keys.size()) / seconds;
}

}  // namespace lapse::bench

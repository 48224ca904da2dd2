// The cases of the benchmark `relocation` in which ranks 0 and 1 localize the same keys in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/plain_move.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/server.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::bench {

inline constexpr std::size_t kRelocationRuns = 20;

struct RelocationCase {
  std::string name;
  std::int32_t ranks = 2;
  std::size_t keys;   // of the table
  std::size_t turns;  // in a run, each localizes all keys; even
  std::size_t batch;
  std::size_t in_flight = 1;     // batches; 1: each is waited for
  std::size_t length = kLength;  // floats of a value
};

// One object on each rank, with a server for all cases.
class RelocationTurns {
 public:
  // The keys of a case, in random order; rank 1 owns them when a run begins.
  struct Keys {
    Table<float> table;
    std::vector<Key> keys;
    std::size_t turns;
  };

  RelocationTurns(Bench& bench, const Options& options) : bench_(bench), server_(MPI_COMM_WORLD, options) {}

  const Options& options() const { return server_.options(); }

  // Collective. Creates the case's table. Homes are spread over two ranks; with three ranks, rank 2 is the
  // home of all keys.
  Keys prepare(const RelocationCase& what);
  // Collective. Runs once, and returns the keys that arrived per second while a rank localized.
  double rate(const RelocationCase& what, const Keys& keys);
  // Collective. Called after the last run.
  void finish(const Keys& keys);
  // Collective. Throws UsageError if the counted relocations differ from those of the runs.
  void close();

 private:
  std::uint64_t relocations(const Keys& keys);

  Bench& bench_;
  ParameterServer server_;
  std::uint64_t counted_ = 0;  // relocations while measuring
  std::uint64_t expected_ = 0;
};

// Collective over two ranks. The baseline of a run: hand-written code that moves rows in the same batches and
// turns. Returns the keys that arrived per second while a rank took them.
double moved_rate(PlainMove& plain, const RelocationCase& what, const RelocationTurns::Keys& keys);

}  // namespace lapse::bench

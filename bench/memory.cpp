// Memory of a table besides its values: 1 million keys on 2 ranks, each key at its home. Counted, not timed:
// (slot words + ownership + slabs - values) / (keys x domains), in bytes.
//
//   case             ranks  baseline
//   dense              2    none   values of 64 floats
//   dense 25 floats    2    none   values of 25 floats
//   sparse 4 floats    2    none   values of 4 floats; per key, as a rank has slot words of its own keys only
#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

// Collective. Creates the keys 0 to keys - 1, each at its home.
void push_all(Worker& worker, const Table<float>& table, std::uint64_t keys) {
  constexpr std::uint64_t kBatch = 1000;
  std::vector<Key> batch;
  const std::vector<float> updates(kBatch * table.length(), 1.0F);
  for (std::uint64_t key = worker.index(); key < keys; key += worker.count()) {
    batch.emplace_back(key);
    if (batch.size() < kBatch && key + worker.count() < keys) continue;
    worker.push(table, batch, std::span(updates).first(batch.size() * table.length())).wait();
    batch.clear();
  }
}

void measure_memory(Bench& bench, const std::string& name, std::size_t length, bool sparse) {
  if (!bench.selected(name)) return;
  ParameterServer server(MPI_COMM_WORLD, separate_options());
  const std::uint64_t keys = bench.size(1'000'000, 1000);
  const auto table = server.create_table<float>(
      {.name = name, .keys = sparse ? 0 : keys, .sparse = sparse, .length = length});
  if (sparse) server.run_workers(1, [&](Worker& worker) { push_all(worker, table, keys); });
  const ParameterServer::MemoryUse use = server.memory_use(table);
  std::array<std::uint64_t, 2> total{use.words + use.ownership + use.slabs, use.values};
  MPI_Allreduce(MPI_IN_PLACE, total.data(), 2, MPI_UINT64_T, MPI_SUM, bench.plain());
  const std::string domain = domain_of(server.options());
  server.close();
  expect_count("bytes of values", total[1], keys * length * sizeof(float));
  const double domains = sparse ? 1 : static_cast<double>(bench.ranks());
  const double overhead = static_cast<double>(total[0] - total[1]) / (static_cast<double>(keys) * domains);
  bench.add({.name = name,
             .metric = "overhead",
             .unit = "bytes",
             .ranks = bench.ranks(),
             .workers = 0,
             .domain = domain},
            "", {.values = {overhead}, .baselines = {}});
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Memory of a table beside its values", [](Bench& bench) {
    measure_memory(bench, "dense", 64, false);
    measure_memory(bench, "dense 25 floats", kLength, false);
    measure_memory(bench, "sparse 4 floats", 4, true);
  });
}

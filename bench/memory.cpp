// Memory of a table beside its values: 1 million keys on 2 ranks, each key at its home. Counted, not timed:
// (words + ownership + slabs - values) / (keys x domains), in bytes.
//
//   case             ranks  plain twin
//   dense              2    none   values of 64 floats
//   dense 25 floats    2    none   values of 25 floats
#include <mpi.h>

#include <array>
#include <string>

#include "bench/support/bench.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

void measure_memory(Bench& bench, const std::string& name, std::size_t length) {
  if (!bench.selected(name)) return;
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  const std::uint64_t keys = bench.size(1'000'000, 1000);
  const auto table = server.create_table<float>({.name = name, .keys = keys, .length = length});
  const ParameterServer::MemoryUse use = server.memory_use(table);
  std::array<std::uint64_t, 2> total{use.words + use.ownership + use.slabs, use.values};
  MPI_Allreduce(MPI_IN_PLACE, total.data(), 2, MPI_UINT64_T, MPI_SUM, bench.plain());
  server.close();
  expect_count("bytes of values", total[1], keys * length * sizeof(float));
  const double overhead = static_cast<double>(total[0] - total[1]) /
                          (static_cast<double>(keys) * static_cast<double>(bench.ranks()));
  bench.add({name, "overhead", "bytes", bench.ranks(), 0}, "", {{overhead}, {}});
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Memory of a table beside its values", [](Bench& bench) {
    measure_memory(bench, "dense", 64);
    measure_memory(bench, "dense 25 floats", kLength);
  });
}

#include "bench/replicas_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "bench/copied_table.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 1'000'000;
constexpr std::size_t kValueLength = 16;

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void add(Bench& bench, const std::string& name, double bytes) {
  bench.add({.name = name,
             .metric = "memory",
             .unit = "bytes",
             .ranks = bench.ranks(),
             .workers = bench.ranks(),
             .domain = "rank"},
            "", {.values = {std::max(0.0, bytes)}, .baselines = {}});
}

void measure_copies(Bench& bench, const std::string& name) {
  if (!bench.selected(name)) return;
  const std::uint64_t own = bench.size(kKeys, 1000) / 2;
  CopiedTable copied(own, kValueLength);
  const double before = resident_bytes();
  copied.make_copies();
  const double bytes = (resident_bytes() - before) / static_cast<double>(own);
  copied.manager().close();
  add(bench, name, bytes - 2.0 * kValueLength * sizeof(float));
}

// Collective. Calls `announce` with the worker and its keys. Returns the growth of memory during it and the
// rounds after it.
template <class F>
void measure_intents(Bench& bench, const std::string& name, F&& announce) {
  if (!bench.selected(name)) return;
  const std::uint64_t own = bench.size(kKeys, 1000);
  adapm::Options options = adapm::Options::from_environment();
  options.server = separate_options();
  adapm::ParameterManager manager(MPI_COMM_WORLD, options);
  const auto table =
      manager.create_table<float>({.name = "wanted", .keys = 2 * own, .home = HomeMapKind::range});
  double bytes = 0;
  manager.run_workers(1, [&](adapm::IntentWorker& worker) {
    const std::uint64_t first = static_cast<std::uint64_t>(worker.rank().value()) * own;
    worker.barrier();
    const double before = resident_bytes();
    announce(worker, table, adapm::KeyRange{Key(first), Key(first + own)});
    // Several rounds.
    for (int i = 0; i < 5; ++i) worker.sync_barrier();
    bytes = (resident_bytes() - before) / static_cast<double>(own);
  });
  manager.close();
  add(bench, name, bytes);
}

}  // namespace

void measure_replica_memory(Bench& bench) {
  measure_copies(bench, "memory of a copy");
  measure_intents(bench, "memory of a wanted key",
                  [](adapm::IntentWorker& worker, const Table<float>& table, adapm::KeyRange own) {
                    worker.intent(table, own, lapse::Clock(0), lapse::Clock(1));
                  });
  measure_intents(bench, "memory of an announced key",
                  [](adapm::IntentWorker& worker, const Table<float>& table, adapm::KeyRange own) {
                    std::vector<Key> keys;
                    for (std::uint64_t key = own.first.value(); key < own.end.value(); ++key) {
                      keys.emplace_back(key);
                      if (keys.size() < 100) continue;
                      worker.intent(table, keys, lapse::Clock(1'000'000), lapse::Clock(1'000'001));
                      keys.clear();
                    }
                  });
}

}  // namespace lapse::bench

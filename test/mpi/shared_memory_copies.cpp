// Replicas on ranks that can hardly share memory, and on ranks of which one is killed.
#include "test/mpi/shared_memory_copies.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/server_expect.hpp"

namespace lapse::test {

using adapm::ParameterManager;

void copies_in_little_memory() {
  ParameterManager manager(MPI_COMM_WORLD);
  constexpr std::size_t kLength = 4096;
  const auto table = manager.create_table<float>(
      {.name = "values", .keys = 2400, .length = kLength, .home = HomeMapKind::range});
  const auto keys = key_range(0, table.keys());
  for (int phase = 1; phase <= 2; ++phase) {
    manager.run_workers(1, [&](adapm::IntentWorker& worker) {
      const std::int64_t begin = worker.current_clock().value();
      const std::vector<float> ones(kLength, 1);
      for (std::uint64_t first = 0; first < keys.size(); first += 100) {
        const auto some = std::span(keys).subspan(first, 100);
        worker.intent(table, some, Clock(begin), Clock(begin + 1000));
      }
      for (const Key key : keys) {
        worker.push(table, key, ones);
        if (key.value() % 10 == 0) worker.advance_clock();
      }
      worker.sync_barrier();
      std::vector<float> value(kLength);
      const auto expected = static_cast<float>(phase) * static_cast<float>(worker.count());
      for (const Key key : keys) {
        worker.pull(table, key, value).wait();
        expect(value.front() == expected && value.back() == expected,
               "the pushes of all to key " + std::to_string(key.value()));
      }
    });
  }
  const TableCounters total = manager.statistics().server.table_total(table.id());
  expect(total.copies_here == 0, "no copy behind the phases");
  if (manager.rank() == Rank(0))
    std::printf("%llu copies came, %llu declined, %llu refused\n",
                static_cast<unsigned long long>(total.copies_in),
                static_cast<unsigned long long>(total.declined_copies),
                static_cast<unsigned long long>(total.refused_copies));
  manager.close();
}

void killed_in_rounds() {
  ParameterManager manager(MPI_COMM_WORLD);
  const auto table = manager.create_table<float>({.name = "values", .keys = 1000, .length = 256});
  manager.run_workers(1, [&](adapm::IntentWorker& worker) {
    const auto keys = key_range(0, table.keys());
    const std::vector<float> ones(keys.size() * table.length(), 1);
    worker.intent(table, keys, Clock(0), Clock(1'000'000'000));
    for (int clock = 0;; ++clock) {
      worker.push(table, keys, ones);
      worker.advance_clock();
      if (clock % 5 == 0) worker.wait_sync();
      if (worker.index() == 1 && clock == 22) std::raise(SIGKILL);
    }
  });
}

}  // namespace lapse::test

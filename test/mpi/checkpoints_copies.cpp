// Checkpoints of tables whose values have replicas in several domains.
#include <mpi.h>

#include <vector>

#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

TEST_CASE("Copies are merged before they are saved, and refreshed after loading") {
  for (const adapm::Technique technique :
       {adapm::Technique::full_replication, adapm::Technique::adaptive, adapm::Technique::relocation_only}) {
    for (const bool sparse : {false, true}) {
      if (sparse && technique == adapm::Technique::full_replication) continue;  // needs a list of keys
      const SharedFolder folder;
      adapm::ParameterManager manager(MPI_COMM_WORLD, options_of(technique));
      const auto table = manager.create_table<std::int64_t>(copied_table(sparse, 60, manager.ranks()));
      const auto keys = copied_keys(sparse, 60, manager.ranks());
      Checkpoints checkpoints(manager.server(), {.folder = folder.path()});
      checkpoints.add(table);
      const auto push = [&](std::int64_t update) {
        manager.run_workers(1, [&](adapm::IntentWorker& worker) {
          worker.intent(table, keys, worker.current_clock(), Clock(worker.current_clock().value() + 20));
          for (int round = 0; round < 10; ++round) {
            worker.push(table, keys, std::vector<std::int64_t>(keys.size(), update));
            worker.advance_clock();
          }
        });
      };
      const auto expect_all = [&](std::int64_t value) {
        manager.run_workers(1, [&](adapm::IntentWorker& worker) {
          std::vector<std::int64_t> values(keys.size());
          worker.pull(table, keys, values).wait();
          expect(values == std::vector<std::int64_t>(keys.size(), value),
                 "values of " + std::to_string(value) + ", found " + std::to_string(values[0]));
        });
      };
      const std::int64_t sum = 10 * manager.ranks();
      push(1);
      checkpoints.save(1);
      push(5);
      expect_all(6 * sum);
      checkpoints.load();
      expect_all(sum);
      push(2);
      expect_all(3 * sum);
      manager.close();
    }
  }
}

// Checkpoints with non-finite numbers never replace healthy ones.
#include <mpi.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "test/mpi/checkpoints_stepped.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

using Steps = std::vector<std::uint64_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Step 3 and the steps from 6 on have diverged.
void save_diverging(SteppedTable& table, const Steps& steps) {
  for (const std::uint64_t step : steps) {
    table.set(step == 3 || step >= 6 ? (step % 2 == 0 ? kInfinity : -std::nanf(""))
                                     : static_cast<float>(step));
    table.checkpoints().save(step);
  }
  table.checkpoints().finish();
}

}  // namespace

TEST_CASE("A training that diverges rotates no healthy checkpoint out") {
  const SharedFolder folder;
  for (const bool local : {false, true}) {
    const CheckpointSettings settings{.folder = folder.path() + (local ? "/with-local" : "/without"),
                                      .local_folder = local ? folder.path() + "-local" : "",
                                      .keep = 2};
    const CheckpointFolder all(settings.folder);
    {
      SteppedTable table(settings);
      save_diverging(table, {1, 2, 3});
      CHECK(all.steps() == Steps{1, 2, 3});
      CHECK(all.manifest(2).not_finite() == 0);
      CHECK(all.manifest(3).not_finite() == 100);
      // Diverged checkpoints count among all checkpoints; healthy ones are also counted separately.
      save_diverging(table, {4, 5, 6, 7, 8});
      CHECK(all.steps() == Steps{4, 5, 7, 8});
    }
    {
      SteppedTable table(settings);
      const LoadedCheckpoint loaded = table.checkpoints().load();
      CHECK(loaded.step == 5);
      CHECK(loaded.not_finite == 0);
      REQUIRE_FALSE(loaded.problems.empty());
      CHECK(contains(loaded.problems[0], "not finite"));
      table.expect_values(5);
      // It can be loaded by its step.
      CHECK(table.checkpoints().load({.step = 8}).not_finite == 100);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("Where infinity means something, all checkpoints are equal") {
  const SharedFolder folder;
  const CheckpointSettings settings{.folder = folder.path(), .keep = 2, .expect_finite = false};
  SteppedTable table(settings);
  save_diverging(table, {1, 2, 6, 8});
  CHECK(CheckpointFolder(folder.path()).steps() == Steps{6, 8});
  save_diverging(table, {2, 8});
  const LoadedCheckpoint loaded = table.checkpoints().load();
  CHECK(loaded.step == 8);
  CHECK(loaded.problems.empty());
  table.expect_values(kInfinity);
}

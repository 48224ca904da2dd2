// Diverged trainings: how they are noticed, and that no job resumes from one.
#include <mpi.h>

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/common/training_health.hpp"
#include "apps/common/training_job.hpp"
#include "lapse/core/error.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using namespace lapse::test;

using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kKeys = 50;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A table whose values have two elements.
class JudgedTable {
 public:
  JudgedTable()
      : table_(server_.create_table<float>(
            {.name = "judged", .keys = kKeys, .length = 2, .update_rule = UpdateRule::adagrad()})) {}
  ~JudgedTable() { server_.close(); }
  JudgedTable(const JudgedTable&) = delete;
  JudgedTable& operator=(const JudgedTable&) = delete;

  ParameterServer& server() { return server_; }
  const Table<float>& table() const { return table_; }

  void set(std::uint64_t key, float value) {
    server_.run_workers(1, [&](Worker& worker) {
      const std::vector<float> row{1, value};
      if (worker.index() == 0) worker.set(table_, std::vector{Key(key)}, row).wait();
    });
  }
  // Sum over all ranks.
  void judge(std::optional<double> loss = {}) {
    require_healthy(server_,
                    {.epoch = 3,
                     .rate = 0.5,
                     .loss = loss,
                     .loss_of_nothing = 2,
                     .value_scale = 10,
                     .tables = std::span(&table_, 1)},
                    nullptr);
  }

 private:
  ParameterServer server_{MPI_COMM_WORLD};
  Table<float> table_;
};

}  // namespace

TEST_CASE("a number that is not finite, or too large, is noticed on every rank") {
  JudgedTable judged;
  CHECK_NOTHROW(judged.judge());
  judged.set(kKeys - 1, -9e6F);
  CHECK_NOTHROW(judged.judge(1.9e6));
  for (const std::uint64_t key : {std::uint64_t{0}, kKeys / 2, kKeys - 1}) {
    judged.set(key, -1.1e7F);
    CHECK_THROWS_WITH(
        judged.judge(),
        Contains("diverged in epoch 3 with learning rate 0.5: table 'judged' has a value of 1.1e+07, "
                 "expected at most 1e+07: choose a smaller --rate"));
    for (const float wrong : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      judged.set(key, wrong);
      CHECK_THROWS_WITH(judged.judge(), Contains("table 'judged' has 1 numbers that are not finite"));
    }
    judged.set(key, 1);
  }
  CHECK_THROWS_WITH(judged.judge(2.1e6), Contains("the loss is 2.1e+06, more than 1e+06 times"));
  CHECK_THROWS_WITH(judged.judge(std::numeric_limits<double>::quiet_NaN()), Contains("the loss is nan"));
  CHECK_NOTHROW(judged.judge(1));
}

TEST_CASE("no job goes on from a checkpoint of a training that has diverged") {
  const SharedFolder folder;
  const auto identity = [] {
    RunIdentity run;
    run.add("the program", "a test");
    return run;
  };
  const auto state = [] { return SavedState{"{}", {}}; };
  const CheckpointOptions options{.folder = folder.path(), .signals = {}};
  {
    JudgedTable judged;
    TrainingJob job(judged.server(), options);
    job.add(judged.table(), "judged");
    CHECK_FALSE(job.begin(identity()));
    job.set_progress({});
    judged.set(7, kInfinity);
    job.finish({.epochs = 1}, state);
  }
  CheckpointOptions resumed = options;
  resumed.resume = true;
  {
    JudgedTable judged;
    TrainingJob job(judged.server(), resumed);
    job.add(judged.table(), "judged");
    CHECK_THROWS_WITH(job.begin(identity()),
                      Contains("step 1 in " + folder.path() + " has 1 numbers that are not finite"));
  }
}

// Stages on tables with replicas: a stage reads from replicas what the stage before has written.
#include <mpi.h>

#include <vector>

#include "lapse/stage/engine.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::test::expect;

TEST_CASE("A stage reads from replicas what the stage before has pushed to others") {
  constexpr std::uint64_t kKeys = 24;
  adapm::ParameterManager manager(MPI_COMM_WORLD,
                                  lapse::test::options_of(adapm::Technique::full_replication));
  const auto table = manager.create_table<std::int64_t>({.keys = kKeys, .length = 1});
  ParameterServer& server = manager.server();
  Engine engine(server, {.slots = 1});
  const std::vector<Key> keys = lapse::test::key_range(0, kKeys);
  const std::int32_t ranks = server.ranks();
  Task task{.name = "turns", .repeat = 40};
  // Each rank in turn adds 1 to each key, and then all ranks read all keys.
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    task.stages.push_back({.name = "add" + std::to_string(rank),
                           .f =
                               [&](Info& info) {
                                 const std::vector<std::int64_t> ones(kKeys, 1);
                                 info.worker().push(table, keys, ones);
                               },
                           .workers = Workers({{.rank = rank, .workers = 1}})});
    task.stages.push_back({.name = "read" + std::to_string(rank),
                           .f =
                               [&, rank](Info& info) {
                                 const auto expected =
                                     static_cast<std::int64_t>(info.epoch()) * ranks + rank + 1;
                                 std::vector<std::int64_t> values(kKeys);
                                 info.worker().pull(table, keys, values).wait();
                                 for (const std::int64_t value : values)
                                   expect(value == expected, "what the stages before have added");
                               },
                           .workers = all_slots()});
  }
  CHECK(engine.submit_and_wait(task).state == TaskState::done);
  manager.close();
}

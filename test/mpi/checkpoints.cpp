// Checkpoints are loaded with the saved values, by any number of ranks.
#include "lapse/jobs/checkpoints.hpp"

#include <mpi.h>

#include <algorithm>
#include <set>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

int world_ranks() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

int own_world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Collective over MPI_COMM_WORLD. Calls f(communicator) on the first ranks.
template <class F>
void on_first_ranks(int ranks, F&& f) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, own_world_rank() < ranks ? 0 : MPI_UNDEFINED, 0, &part);
  if (part != MPI_COMM_NULL) {
    f(part);
    MPI_Comm_free(&part);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Saves on the given number of ranks, after moving some keys. Returns, on the first rank, the values before
// and after one more push.
struct Observed {
  std::vector<double> values;
  std::vector<double> values_after_push;
};

Observed save_on(int ranks, const std::string& folder) {
  Observed observed;
  on_first_ranks(ranks, [&](MPI_Comm communicator) {
    ParameterServer server(communicator);
    const SavedTables tables(server);
    server.run_workers(2, [&](Worker& worker) {
      tables.push_to_all(worker, static_cast<std::int64_t>(worker.index()));
      worker.barrier();
      tables.move_some(worker);
    });
    Checkpoints checkpoints(server, {.folder = folder});
    tables.add_to(checkpoints);
    checkpoints.save(1);
    observed.values = observed_values(server, tables, false);
    observed.values_after_push = observed_values(server, tables, true);
    server.close();
  });
  return observed;
}

// With `alone`, each rank is a domain of its own, whatever the environment says.
void expect_loaded(int ranks, bool alone, const std::string& folder, const Observed& expected) {
  on_first_ranks(ranks, [&](MPI_Comm communicator) {
    INFO("loaded by " << ranks << " ranks");
    Options options = Options::from_environment();
    if (alone) options.domain = {DomainChoice::Kind::rank, 1};
    ParameterServer server(communicator, options);
    const SavedTables tables(server);
    server.run_workers(1, [&](Worker& worker) { tables.push_to_all(worker, 7); });
    Checkpoints checkpoints(server, {.folder = "never_written"});
    tables.add_to(checkpoints);
    const LoadedCheckpoint loaded = checkpoints.load({.folder = folder});
    CHECK(loaded.step == 1);
    CHECK(loaded.problems.empty());
    const auto values = observed_values(server, tables, false);
    const auto values_after_push = observed_values(server, tables, true);
    CHECK((server.rank().value() != 0 || values == expected.values));
    CHECK((server.rank().value() != 0 || values_after_push == expected.values_after_push));
    // Every byte value once.
    std::uint64_t read = loaded.bytes_read;
    MPI_Allreduce(MPI_IN_PLACE, &read, 1, MPI_UINT64_T, MPI_SUM, communicator);
    std::uint64_t needed = CheckpointFolder(folder).manifest(1).bytes();
    CHECK(read >= needed);
    CHECK(static_cast<double>(read) <= 1.1 * static_cast<double>(needed));
    server.close();
  });
}

}  // namespace

TEST_CASE("Values and states are loaded by more, fewer and as many ranks, with other domains") {
  const SharedFolder folder;
  for (const int savers : std::set<int>{1, std::min(2, world_ranks()), world_ranks()}) {
    const std::string path = folder.path() + std::to_string(savers);
    const Observed saved = save_on(savers, path);
    for (int ranks = 1; ranks <= world_ranks(); ++ranks)
      for (const bool alone : {false, true}) expect_loaded(ranks, alone, path, saved);
  }
}

TEST_CASE("A checkpoint has as many files as the option says") {
  using Kind = CheckpointFiles::Kind;
  const SharedFolder folder;
  const auto ranks = static_cast<std::size_t>(world_ranks());
  for (const CheckpointFiles files : {CheckpointFiles{Kind::host}, {Kind::rank}, {Kind::number, 2}}) {
    Options options = Options::from_environment();
    options.checkpoint_files = files;
    ParameterServer server(MPI_COMM_WORLD, options);
    const SavedTables tables(server);
    server.run_workers(1, [&](Worker& worker) { tables.push_to_all(worker, 3); });
    const auto values = observed_values(server, tables, false);
    Checkpoints checkpoints(server, {.folder = folder.path()});
    tables.add_to(checkpoints);
    checkpoints.save(1, {.per_worker = {"", std::to_string(server.rank().value())}});
    const CheckpointFolder written(folder.path());
    const std::size_t expected = files.kind == Kind::host   ? 1
                                 : files.kind == Kind::rank ? ranks
                                                            : std::min<std::size_t>(ranks, 2);
    CHECK(written.manifest(1).files().size() == expected);
    written.check(written.manifest(1), CheckpointFolder::Check::contents);
    server.run_workers(1, [&](Worker& worker) { tables.push_to_all(worker, 4); });
    const LoadedCheckpoint loaded = checkpoints.load();
    CHECK(loaded.per_worker.back() == std::to_string(ranks - 1));
    CHECK(observed_values(server, tables, false) == values);
    server.close();
  }
}

TEST_CASE("Homes, seeds and parameters of the update rule may be others") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  const auto saved = server.create_table<float>(
      {.name = "table", .keys = 50, .length = 2, .update_rule = UpdateRule::adagrad({.learning_rate = 0.1})});
  const auto loaded =
      server.create_table<float>({.name = "other",
                                  .keys = 50,
                                  .length = 2,
                                  .initialiser = Initialiser::normal(0, 1),
                                  .home = HomeMapKind::range,
                                  .update_rule = UpdateRule::adagrad({.learning_rate = 0.2})});
  server.run_workers(
      1, [&](Worker& worker) { worker.push(saved, key_range(0, 50), std::vector<float>(100, 1.5F)); });
  {
    Checkpoints checkpoints(server, {.folder = folder.path()});
    checkpoints.add(saved);
    checkpoints.save(0);
  }
  Checkpoints checkpoints(server, {.folder = folder.path()});
  checkpoints.add(loaded, "table");  // under another name
  checkpoints.load({.step = 0});
  server.run_workers(1, [&](Worker& worker) {
    std::vector<float> first(100);
    std::vector<float> second(100);
    worker.pull(saved, key_range(0, 50), first).wait();
    worker.pull(loaded, key_range(0, 50), second).wait();
    expect(first == second, "equal values");
  });
  server.close();
}

TEST_CASE("Content of the application and clocks come back to every rank, in the order of workers") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "table", .keys = 3});
  Checkpoints checkpoints(server, {.folder = folder.path()});
  checkpoints.add(table);
  const std::int32_t rank = server.rank().value();
  CheckpointContent content;
  content.global = "of rank " + std::to_string(rank);
  for (std::int32_t worker = 0; worker <= rank; ++worker) {
    content.per_worker.push_back(std::string(1, '\0') + std::to_string(rank) + "," + std::to_string(worker));
    content.clocks.emplace_back(10 * rank + worker);
  }
  checkpoints.save(5, content);
  const LoadedCheckpoint loaded = checkpoints.load();
  CHECK(loaded.global == "of rank 0");
  CHECK(loaded.ranks == server.ranks());
  std::size_t position = 0;
  for (std::int32_t other = 0; other < server.ranks(); ++other) {
    for (std::int32_t worker = 0; worker <= other; ++worker, ++position) {
      REQUIRE(position < loaded.per_worker.size());
      CHECK(loaded.per_worker[position] ==
            std::string(1, '\0') + std::to_string(other) + "," + std::to_string(worker));
      CHECK(loaded.clocks.at(position) == Clock(10 * other + worker));
    }
  }
  CHECK(loaded.per_worker.size() == position);
  // There is no checkpoint.
  checkpoints.save(6);
  const LoadedCheckpoint empty = checkpoints.load();
  CHECK(empty.step == 6);
  CHECK(empty.global.empty());
  CHECK(empty.per_worker.empty());
  CHECK(empty.clocks.empty());
  server.close();
}

TEST_CASE("Steps are chosen, replaced and kept") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.name = "table", .keys = 20});
  std::optional<Checkpoints> checkpoints;
  const auto begin = [&](std::optional<std::size_t> keep) {
    checkpoints.emplace(server, CheckpointSettings{.folder = folder.path(), .keep = keep});
    checkpoints->add(table);
  };
  begin({});
  const auto set_all = [&](std::int64_t value) {
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() == 0) worker.set(table, key_range(0, 20), std::vector<std::int64_t>(20, value));
    });
  };
  const auto expect_all = [&](std::int64_t value) {
    server.run_workers(1, [&](Worker& worker) {
      std::vector<std::int64_t> values(20);
      worker.pull(table, key_range(0, 20), values).wait();
      expect(values == std::vector<std::int64_t>(20, value), "20 times " + std::to_string(value));
    });
  };
  for (const std::int64_t step : {10, 20, 30}) {
    set_all(step);
    checkpoints->save(static_cast<std::uint64_t>(step));
  }
  CHECK(checkpoints->load({.step = 20}).step == 20);
  expect_all(20);
  set_all(25);
  checkpoints->save(20);
  CHECK(checkpoints->load({.step = 30}).step == 30);
  expect_all(30);
  CHECK(checkpoints->load().step == 20);  // saved last
  expect_all(25);
  checkpoints.reset();  // releases the lock
  begin(2);
  checkpoints->save(40);
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{20, 40});
  checkpoints.reset();
  begin(1);
  checkpoints->save(15);
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{15});
  server.close();
}

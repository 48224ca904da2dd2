// Files that one rank cannot write or read cause the same error on every rank, and the server continues.
#include <mpi.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/hooks.hpp"
#include "test/mpi/checkpoints_stepped.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/file_limit.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

namespace {

void change_byte(const std::string& path, std::streamoff at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

}  // namespace

TEST_CASE("A full disk on one rank") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  table.save(1);
  table.set(2);
  {
    const auto limit = table.is_last_rank() ? std::make_unique<FileLimit>(50) : nullptr;
    check_error(Reason::no_space, "cannot be reserved", [&] { table.checkpoints().save(2); });
  }
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{1});
  table.expect_values(2);
  table.checkpoints().load();
  table.expect_values(1);
  table.save(3);
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{1, 3});
}

TEST_CASE("A save in the background has the values of its call, and exists when it is finished") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  CHECK(table.checkpoints().done());
  table.checkpoints().finish();
  for (const std::uint64_t step : {1, 2}) {
    table.set(static_cast<float>(step));
    // The next call finishes the save of step 1.
    table.checkpoints().save_async(step);
    table.set(10);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(CheckpointFolder(folder.path()).steps().size() == step - 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  table.expect_values(10);
  while (!table.checkpoints().done()) std::this_thread::yield();
  table.checkpoints().finish();
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{1, 2});
  for (const std::uint64_t step : {1, 2}) {
    table.checkpoints().load({.step = step});
    table.expect_values(static_cast<float>(step));
  }
  // Loading also finishes the save.
  table.checkpoints().save_async(3);
  CHECK(table.checkpoints().load().step == 3);
}

TEST_CASE("A save in the background that is not finished leaves what there was") {
  const SharedFolder folder;
  std::vector<std::string> messages;
  bool is_first = false;
  {
    SteppedTable table(folder.path());
    table.save(1);
    table.checkpoints().save_async(1);
    is_first = table.server().rank() == Rank(0);
    set_hooks({.log = [&](LogLevel, Rank, std::string_view text) { messages.emplace_back(text); }});
  }
  set_hooks({});
  CHECK(messages.size() == (is_first ? 1 : 0));
  if (is_first) CHECK(contains(messages.at(0), "the last checkpoint is not finished there"));
  SteppedTable table(folder.path());
  CHECK(table.checkpoints().load().step == 1);
  table.expect_values(1);
  table.save(2);
}

TEST_CASE("A full disk on one rank, in the background") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  table.save(1);
  {
    const auto limit = table.is_last_rank() ? std::make_unique<FileLimit>(50) : nullptr;
    table.checkpoints().save_async(2);
    check_error(Reason::no_space, "cannot be reserved", [&] { table.checkpoints().finish(); });
  }
  CHECK(table.checkpoints().done());
  table.checkpoints().finish();
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{1});
  table.checkpoints().load();
  table.expect_values(1);
}

TEST_CASE("Folders that cannot be written or are not there") {
  SteppedTable table("/proc/lapse");
  check_error(Reason::not_writable, "/proc/", [&] { table.checkpoints().save(1); });
  check_error(Reason::missing, "no whole checkpoint",
              [&] { table.checkpoints().load({.folder = "/nowhere"}); });
  table.set(4);
  table.expect_values(4);
}

TEST_CASE("A folder that another job writes to") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  table.save(1);
  {
    SteppedTable other(folder.path());
    check_error(Reason::locked, "another job", [&] { other.checkpoints().save(2); });
    other.checkpoints().load();
    other.expect_values(1);
  }
  table.save(2);
}

TEST_CASE("A damaged value, and the next older checkpoint") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  table.save(1);
  table.save(2);
  const CheckpointFolder checkpoints(folder.path());
  const Manifest manifest = checkpoints.manifest(2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (table.is_last_rank()) change_byte(checkpoints.file_path(2, manifest.tables[0].shards.back().file), 80);
  MPI_Barrier(MPI_COMM_WORLD);
  check_error(Reason::damaged, "the checksum of the block", [&] { table.checkpoints().load(); });
  check_error(Reason::damaged, "step 1 can be loaded", [&] { table.checkpoints().load(); });
  table.checkpoints().load({.step = 1});
  table.expect_values(1);
}

TEST_CASE("A newest checkpoint without all its files is passed over, and reported") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  table.save(1);
  table.save(2);
  const CheckpointFolder checkpoints(folder.path());
  const std::string shard = checkpoints.file_path(2, checkpoints.manifest(2).tables[0].shards[0].file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (table.is_last_rank()) std::filesystem::remove(shard);
  MPI_Barrier(MPI_COMM_WORLD);
  const LoadedCheckpoint loaded = table.checkpoints().load();
  CHECK(loaded.step == 1);
  REQUIRE(loaded.problems.size() == 1);
  CHECK(contains(loaded.problems[0], shard));
  table.expect_values(1);
  check_error(Reason::missing, "step 1 can be loaded", [&] { table.checkpoints().load({.step = 2}); });
  check_error(Reason::missing, "step 1 can be loaded", [&] { table.checkpoints().load({.step = 3}); });
}

TEST_CASE("Checkpoints that do not fit the tables change nothing") {
  const SharedFolder folder;
  SteppedTable saved(folder.path());
  saved.save(1);
  ParameterServer& server = saved.server();
  const auto mismatch = [&](const auto& table, const std::string& part) {
    Checkpoints checkpoints(server, {.folder = folder.path()});
    checkpoints.add(table, "table");
    check_error(Reason::mismatch, part, [&] { checkpoints.load(); });
  };
  mismatch(server.create_table<float>({.keys = 99}), "100 keys in the checkpoint, but 99 keys in the server");
  mismatch(server.create_table<float>({.sparse = true}), "but any 64-bit keys in the server");
  mismatch(server.create_table<double>({.keys = 100}), "but elements of type float64 in the server");
  mismatch(server.create_table<float>({.keys = 100, .length = 2}), "1 elements in the checkpoint, but 2");
  mismatch(server.create_table<float>({.keys = 100, .update_rule = UpdateRule::adagrad()}),
           "the update rule add with 0 elements of state in the checkpoint, but the update rule adagrad");
  Checkpoints other(server, {.folder = folder.path()});
  other.add(server.create_table<float>({.name = "unsaved", .keys = 1}));
  check_error(Reason::mismatch, "has no table 'unsaved'", [&] { other.load(); });
}

TEST_CASE("A table of another server is refused") {
  ParameterServer other(MPI_COMM_WORLD);
  Table<float> foreign = other.create_table<float>({.name = "foreign", .keys = 10, .length = 2});
  ParameterServer server(MPI_COMM_WORLD);
  Checkpoints checkpoints(server, {.folder = "never-made"});
  CHECK(contains(thrown_text<UsageError>([&] { checkpoints.add(foreign); }),
                 "'foreign', a table of another server"));
}

TEST_CASE("Calls that differ between ranks, and wrong ones") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  const std::uint64_t step = table.is_last_rank() ? 2 : 1;
  if (table.server().ranks() > 1) {
    CHECK(contains(thrown_text<CollectiveMismatch>([&] { table.checkpoints().save(step); }),
                   "save_checkpoint was called differently on ranks 0 and"));
  }
  CHECK(contains(
      thrown_text<UsageError>([&] { Checkpoints(table.server(), {.folder = folder.path(), .keep = 0}); }),
      "keep is 0"));
  CHECK(
      contains(thrown_text<UsageError>([&] { Checkpoints(table.server(), {}); }), "the folder has no name"));
  table.save(1);
}

// Local folders with checkpoints of other runs, older and newer ones than that of all ranks, and bad ones.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/core/error.hpp"
#include "test/mpi/checkpoints_stepped.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

namespace {

namespace fs = std::filesystem;

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(texts, [&](const std::string& text) { return contains(text, part); });
}

// Writes the values to the local folder only: the job ends before the folder of all ranks has them.
void stage_and_end(const CheckpointSettings& settings, std::uint64_t step, float value) {
  SteppedTable table(settings);
  table.set(value);
  table.checkpoints().save_async(step);
  while (!table.checkpoints().staged()) std::this_thread::yield();
  MPI_Barrier(MPI_COMM_WORLD);
}

void save_and_end(const CheckpointSettings& settings, std::uint64_t step) {
  SteppedTable table(settings);
  table.save(step);
  table.checkpoints().finish();
}

void on_rank_0(const std::function<void()>& f) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) f();
  MPI_Barrier(MPI_COMM_WORLD);
}

void damage_values(const std::string& step) {
  on_rank_0([&] {
    for (const auto& entry : fs::directory_iterator(step)) {
      if (entry.path().extension() != ".shards") continue;
      std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(100);  // inside the block
      file.put('\x7f');
    }
  });
}

}  // namespace

TEST_CASE("A local folder serves one run until everything is in the folder of all ranks") {
  const SharedFolder folder;
  const std::string local = folder.path() + "-local";
  const CheckpointSettings first{.folder = folder.path() + "/run-1", .local_folder = local};
  const CheckpointSettings second{.folder = folder.path() + "/run-2", .local_folder = local};
  save_and_end(second, 3);
  save_and_end(first, 9);
  {
    SteppedTable table(second);
    const LoadedCheckpoint loaded = table.checkpoints().load();
    CHECK(loaded.step == 3);
    CHECK(loaded.problems.empty());
    table.expect_values(3);
  }
  stage_and_end(first, 10, 10);
  {
    SteppedTable table(second);
    check_error(Reason::foreign, "not of the run in " + second.folder, [&] { table.checkpoints().load(); });
    check_error(Reason::foreign, "remove this folder", [&] { table.checkpoints().load({.step = 3}); });
    // A folder that is named in the request has no local one.
    CHECK(table.checkpoints().load({.folder = second.folder}).step == 3);
  }
  // The folder of the run was removed, or its number is lost.
  on_rank_0([&] { fs::rename(first.folder + "/lock", first.folder + "/number"); });
  {
    SteppedTable table(first);
    check_error(Reason::foreign, "not of the run", [&] { table.checkpoints().load(); });
  }
  on_rank_0([&] { fs::rename(first.folder + "/number", first.folder + "/lock"); });
  SteppedTable table(first);
  CHECK(table.checkpoints().load().step == 10);
}

TEST_CASE("What the hosts have is taken if it was saved later than that in the folder of all ranks") {
  const SharedFolder folder;
  const CheckpointSettings settings{.folder = folder.path(), .local_folder = folder.path() + "-local"};
  const CheckpointSettings other_hosts{.folder = folder.path(), .local_folder = folder.path() + "-other"};
  save_and_end(settings, 8);
  stage_and_end(settings, 10, 10);
  {
    SteppedTable table(settings);
    CHECK(table.checkpoints().load().step == 10);
    table.expect_values(10);
  }
  {
    SteppedTable table(other_hosts);
    CHECK(table.checkpoints().load().step == 8);
    table.save(9);
    table.checkpoints().finish();
  }
  {
    SteppedTable table(settings);
    const LoadedCheckpoint loaded = table.checkpoints().load();
    CHECK(loaded.step == 9);
    CHECK(!loaded.only_local);
    table.expect_values(9);
  }
  // Only the hosts have this checkpoint, of the same step.
  stage_and_end(settings, 9, 90);
  SteppedTable table(settings);
  const LoadedCheckpoint loaded = table.checkpoints().load();
  CHECK(loaded.step == 9);
  CHECK(loaded.only_local);
  table.expect_values(90);
}

TEST_CASE("What a disk refuses of a local folder is an error") {
  const SharedFolder folder;
  const CheckpointSettings settings{.folder = folder.path(), .local_folder = folder.path() + "-local"};
  save_and_end(settings, 2);
  on_rank_0([&] {
    fs::remove_all(settings.local_folder);
    std::ofstream(settings.local_folder) << "a file";
  });
  SteppedTable table(settings);
  check_error(Reason::not_readable, "-local: cannot be listed", [&] { table.checkpoints().load(); });
  on_rank_0([&] { fs::remove(settings.local_folder); });
  CHECK(table.checkpoints().load().step == 2);
}

TEST_CASE("Where the newest on the hosts is not whole, the older one there is loaded") {
  const SharedFolder folder;
  const CheckpointSettings settings{.folder = folder.path(), .local_folder = folder.path() + "-local"};
  for (const bool has_far : {false, true}) {
    on_rank_0([&] { fs::remove_all(settings.local_folder); });
    if (has_far) save_and_end(settings, 2);
    stage_and_end(settings, 3, 3);
    {
      SteppedTable table(settings);
      CHECK(table.checkpoints().load().step == 3);
      table.set(4);
      table.checkpoints().save_async(4);
      while (!table.checkpoints().staged()) std::this_thread::yield();
      MPI_Barrier(MPI_COMM_WORLD);
    }
    // In its values, which is noticed late.
    damage_values(settings.local_folder + "/step-4");
    {
      SteppedTable table(settings);
      check_error(Reason::damaged, has_far ? "; step 2 can be loaded" : "-local/step-4",
                  [&] { table.checkpoints().load(); });
      CHECK(table.checkpoints().load({.step = 3, .is_fallback = true}).only_local);
      table.expect_values(3);
    }
    // In its length, which is noticed at once.
    on_rank_0([&] {
      for (const auto& entry : fs::directory_iterator(settings.local_folder + "/step-4"))
        if (entry.path().extension() == ".shards") fs::resize_file(entry.path(), 10);
    });
    SteppedTable table(settings);
    const LoadedCheckpoint loaded = table.checkpoints().load();
    CHECK(loaded.step == 3);
    CHECK(loaded.only_local);
    CHECK(any_contains(loaded.problems, "-local/step-4"));
    table.expect_values(3);
  }
}

TEST_CASE("A checkpoint of all ranks that the disk refuses is replaced by none on the hosts") {
  const SharedFolder folder;
  const CheckpointSettings settings{.folder = folder.path(), .local_folder = folder.path() + "-local"};
  save_and_end(settings, 4);
  save_and_end(settings, 5);
  on_rank_0([&] {
    const fs::path manifest = folder.path() + "/step-5/manifest.json";
    fs::remove(manifest);
    fs::create_symlink(manifest, manifest);
  });
  stage_and_end(settings, 6, 6);
  SteppedTable table(settings);
  check_error(Reason::not_readable, "/step-5/manifest.json", [&] { table.checkpoints().load(); });
  check_error(Reason::not_readable, "/step-5/manifest.json", [&] { table.checkpoints().load({.step = 5}); });
  // By its step.
  const LoadedCheckpoint loaded = table.checkpoints().load({.step = 6});
  CHECK(loaded.step == 6);
  CHECK(loaded.only_local);
  table.expect_values(6);
}

TEST_CASE("Ranks that save differently get an error on each") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "table", .keys = 5});
  if (server.ranks() > 1) {
    const bool is_first = server.rank() == Rank(0);
    const std::string local = is_first ? folder.path() + "-local" : "";
    Checkpoints checkpoints(server, {.folder = folder.path(), .local_folder = local});
    checkpoints.add(table);
    CHECK(contains(thrown_text<CollectiveMismatch>([&] { checkpoints.save(1); }), "no local folder"));
    CHECK(contains(thrown_text<CollectiveMismatch>([&] { checkpoints.load(); }), "no local folder"));
    Checkpoints others(server, {.folder = folder.path() + "-2"});
    others.add(table);
    CHECK(contains(thrown_text<CollectiveMismatch>([&] { is_first ? others.save(1) : others.save_async(1); }),
                   "save_async"));
  }
  server.close();
}

TEST_CASE("Tables that do not fit, and a length function that throws anything") {
  const SharedFolder folder;
  std::atomic<bool> fails{false};
  const auto length = [&fails](Key key) -> std::uint32_t {
    if (fails) throw 7;
    return static_cast<std::uint32_t>(key.value() % 3 + 1);
  };
  for (const bool loads : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<float>({.name = "table", .sparse = true, .lengths = length});
    Checkpoints checkpoints(server, {.folder = folder.path()});
    checkpoints.add(table);
    if (loads) {
      fails = true;
      CHECK(contains(thrown_text<Error>([&] { checkpoints.load(); }), "unknown type"));
      fails = false;
    } else {
      server.run_workers(1, [&](Worker& worker) {
        if (worker.index() == 0) worker.push(table, {Key(3)}, std::vector<float>{1});
      });
      checkpoints.save(1);
      checkpoints.save(2);
      // No other step can help.
      Checkpoints others(server, {.folder = folder.path()});
      others.add(table, "none");
      const std::string text = thrown_text<CheckpointError>([&] { others.load(); });
      CHECK(contains(text, "has no table 'none'"));
      CHECK(!contains(text, "can be loaded"));
    }
    server.close();
  }
}

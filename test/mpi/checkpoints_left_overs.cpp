// Files that failed attempts have left, and which checkpoints are kept.
#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "test/mpi/checkpoints_stepped.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/file_limit.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

namespace {

namespace fs = std::filesystem;

std::size_t files_of_checkpoints(const std::string& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  std::size_t files = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(path, error))
    files += entry.is_regular_file() && entry.path().parent_path() != path ? 1 : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return files;
}

std::vector<std::string> shards_in(const std::string& path) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".shards") files.push_back(entry.path().string());
  return files;
}

}  // namespace

TEST_CASE("Files of attempts that failed do not stay on the hosts") {
  const SharedFolder folder;
  const std::string local = folder.path() + "-local";
  SteppedTable table(CheckpointSettings{.folder = folder.path(), .local_folder = local}, 10'000);
  if (table.is_last_rank()) {  // left by a rank that was killed
    fs::create_directories(local + "/step-5");
    std::ofstream(local + "/step-5/0000000000000007-r0.shards") << "a part";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  table.set(1);
  for (const bool in_background : {false, true}) {
    {
      std::optional<FileLimit> limit;
      if (table.is_last_rank()) limit.emplace(1000);
      check_error(Reason::no_space, "-local/step-1/", [&] {
        if (in_background) {
          table.checkpoints().save_async(1);
          table.checkpoints().finish();
        } else {
          table.checkpoints().save(1);
        }
      });
    }
    CHECK(files_of_checkpoints(local) == 0);
  }
  // They are removed before the files of the next attempt are written.
  table.checkpoints().save(1);
  table.checkpoints().load();  // Everything is removed.
  CHECK(files_of_checkpoints(local) == 0);
  if (table.is_last_rank()) {
    fs::create_directories(local + "/step-1");
    std::ofstream(local + "/step-1/0000000000000008-r0.shards") << "a part";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  table.checkpoints().save(2);
  // Of each rank its part and the manifest of it.
  CHECK(files_of_checkpoints(local) == 2 * static_cast<std::size_t>(table.server().ranks()));
}

TEST_CASE("Of checkpoints that cannot be copied, the hosts keep the newest") {
  const SharedFolder folder;
  const std::string local = folder.path() + "-local";
  {
    SteppedTable table(CheckpointSettings{.folder = folder.path(), .local_folder = local});
    table.save(1);
    table.checkpoints().load();  // Everything is removed.
    if (table.is_last_rank())
      for (const char* const step : {"2", "3"}) std::ofstream(folder.path() + "/step-" + step) << "a file";
    MPI_Barrier(MPI_COMM_WORLD);
    for (const std::uint64_t step : {2, 3}) {
      table.save(step);
      check_error(Reason::not_writable, "/step-", [&] { table.checkpoints().finish(); });
      CHECK(files_of_checkpoints(local) == 2 * static_cast<std::size_t>(table.server().ranks()));
    }
  }
  SteppedTable table(CheckpointSettings{.folder = folder.path(), .local_folder = local});
  const LoadedCheckpoint loaded = table.checkpoints().load();
  CHECK(loaded.step == 3);
  CHECK(loaded.only_local);
  table.expect_values(3);
  table.save(4);
  table.checkpoints().load();
  CHECK(files_of_checkpoints(local) == 0);
}

TEST_CASE("What cannot be removed does not keep a job from saving") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  if (table.is_last_rank()) fs::create_directories(folder.path() + "/step-1/left.shards/below");
  MPI_Barrier(MPI_COMM_WORLD);
  table.save(2);
  CHECK(table.checkpoints().load().step == 2);
  CHECK(fs::exists(folder.path() + "/step-1/left.shards"));
}

TEST_CASE("A manifest that cannot be removed does not keep older checkpoints") {
  const SharedFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  SteppedTable table(CheckpointSettings{.folder = folder.path(), .keep = 2});
  table.save(1);
  table.save(2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (table.is_last_rank()) {
    const fs::path manifest = checkpoints.file_path(2, std::string(Manifest::kFile));
    fs::remove(manifest);
    fs::create_directories(manifest / "below");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  table.save(3);
  CHECK(checkpoints.steps() == std::vector<std::uint64_t>{1, 2, 3});
  table.save(4);
  CHECK(checkpoints.steps() == std::vector<std::uint64_t>{2, 3, 4});
  table.checkpoints().load({.step = 3});
  CHECK(!shards_in(checkpoints.step_path(2)).empty());  // It may be complete.
  CHECK(!fs::exists(checkpoints.step_path(1)));
}

TEST_CASE("A checkpoint of which a file was removed does not appear") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  table.save(1);
  for (const bool is_cut : {false, true}) {
    table.set(2);
    table.checkpoints().save_async(2);
    while (!table.checkpoints().done()) std::this_thread::yield();
    MPI_Barrier(MPI_COMM_WORLD);
    if (table.is_last_rank()) {
      for (const std::string& file : shards_in(folder.path() + "/step-2"))
        is_cut ? fs::resize_file(file, 10) : void(fs::remove(file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_error(is_cut ? Reason::truncated : Reason::missing, "/step-2/",
                [&] { table.checkpoints().finish(); });
    CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{1});
  }
}

TEST_CASE("Broken checkpoints and those of an abandoned branch do not count among those that stay") {
  const SharedFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  {
    SteppedTable table(CheckpointSettings{.folder = folder.path(), .keep = 4});
    for (const std::uint64_t step : {7, 8, 9, 10}) table.save(step);
    if (table.is_last_rank())
      for (const std::uint64_t step : {9, 10})
        for (const std::string& file : shards_in(checkpoints.step_path(step))) fs::resize_file(file, 10);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const CheckpointSettings two{.folder = folder.path(), .keep = 2};
  {
    SteppedTable table(two);  // It does not load: 9 and 10 are damaged, not a branch.
    table.save(11);
    CHECK(checkpoints.steps() == std::vector<std::uint64_t>{8, 9, 10, 11});
    CHECK(table.checkpoints().load({.step = 8}).step == 8);
    table.save(9);
    CHECK(checkpoints.steps() == std::vector<std::uint64_t>{8, 9});
    table.save(10);
    CHECK(checkpoints.steps() == std::vector<std::uint64_t>{9, 10});
    CHECK(table.checkpoints().load().step == 10);
  }
}

TEST_CASE("A folder that is removed while a job runs is made anew with its lock") {
  const SharedFolder folder;
  const std::string local = folder.path() + "-local";
  SteppedTable table({.folder = folder.path(), .local_folder = local});
  Checkpoints& checkpoints = table.checkpoints();
  const bool is_first_rank = table.server().rank() == Rank(0);
  // Called on rank 0 only, between collective calls.
  const auto alone = [&](auto&& f) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_first_rank) f();
    MPI_Barrier(MPI_COMM_WORLD);
  };
  std::optional<std::uint64_t> number;
  const auto expect_lock = [&] {
    alone([&] {
      CHECK(folder_number(folder.path()) == number);
      for (const std::string& one : {folder.path(), local}) {
        INFO(one);
        std::optional<Reason> reason;
        try {
          const FolderLock second(one);
        } catch (const CheckpointError& error) {
          reason = error.reason();
        }
        CHECK(reason == Reason::locked);
      }
    });
  };
  table.save(1);
  checkpoints.finish();
  number = folder_number(folder.path());
  alone([&] { fs::remove_all(folder.path()); });
  table.save(2);
  checkpoints.finish();
  expect_lock();
  CHECK(checkpoints.load().step == 2);

  alone([&] { fs::remove_all(local); });
  table.save(3);
  checkpoints.finish();
  expect_lock();
  CHECK(checkpoints.load().step == 3);

  // Before the files are written: without files there is no checkpoint.
  table.save(4);
  alone([&] {
    fs::remove(folder.path() + "/lock");
    fs::remove(local + "/lock");
  });
  checkpoints.finish();
  table.save(5);
  expect_lock();
  checkpoints.finish();
  CHECK(checkpoints.load().step == 5);
}

TEST_CASE(
    "A save whose folder is removed before its end leaves no checkpoint, and the next save has a lock") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  Checkpoints& checkpoints = table.checkpoints();
  table.set(1);
  checkpoints.save_async(1);
  while (!checkpoints.done()) std::this_thread::yield();
  MPI_Barrier(MPI_COMM_WORLD);
  if (table.server().rank() == Rank(0)) fs::remove_all(folder.path());
  MPI_Barrier(MPI_COMM_WORLD);
  check_error(Reason::missing, ".shards", [&] { checkpoints.finish(); });
  table.save(2);
  CHECK(checkpoints.load().step == 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (table.server().rank() == Rank(0)) CHECK(folder_number(folder.path()));
}

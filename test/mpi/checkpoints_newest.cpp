// Which checkpoint is the newest, which are kept, and what happens to those in local folders.
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "test/mpi/checkpoints_stepped.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

namespace {

namespace fs = std::filesystem;

using Steps = std::vector<std::uint64_t>;

CheckpointSettings with_local(const SharedFolder& folder, const std::string& run = "") {
  return {.folder = folder.path() + run, .local_folder = folder.path() + "-local", .keep = 2};
}

// Runs f on one rank, after all ranks have arrived. They continue when it has returned.
void by_one_rank(const std::function<void()>& f) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) f();
  MPI_Barrier(MPI_COMM_WORLD);
}

void save_all(const CheckpointSettings& settings, const Steps& steps) {
  SteppedTable table(settings);
  for (const std::uint64_t step : steps) table.save(step);
  table.checkpoints().finish();
}

// The job ends when only the hosts have the checkpoint, and the folder of all ranks does not.
void stage_on_hosts(const CheckpointSettings& settings, std::uint64_t step) {
  SteppedTable table(settings);
  table.set(static_cast<float>(step));
  table.checkpoints().save_async(step);
  while (!table.checkpoints().staged()) std::this_thread::yield();
  MPI_Barrier(MPI_COMM_WORLD);
}

// The steps with a file of values.
Steps steps_with_values(const std::string& path) {
  Steps steps;
  MPI_Barrier(MPI_COMM_WORLD);
  const CheckpointFolder folder(path);
  for (const std::uint64_t step : folder.all_steps())
    for (const auto& entry : fs::directory_iterator(folder.step_path(step)))
      if (entry.path().extension() == ".shards" && (steps.empty() || steps.back() != step))
        steps.push_back(step);
  MPI_Barrier(MPI_COMM_WORLD);
  return steps;
}

std::vector<fs::path> value_files(const std::string& path) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".shards") files.push_back(entry.path());
  return files;
}

void change_block(const fs::path& path) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(100);
  file.put('\x7f');
}

bool is_named(const LoadedCheckpoint& loaded, const std::string& part) {
  return std::ranges::any_of(loaded.problems, [&](const std::string& text) { return contains(text, part); });
}

}  // namespace

TEST_CASE("The newest is what was saved last, also with a smaller step") {
  const SharedFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  save_all(with_local(folder), {9, 5, 4});
  CHECK(checkpoints.steps() == Steps{4, 5});
  {
    SteppedTable table(with_local(folder));
    const LoadedCheckpoint loaded = table.checkpoints().load();
    CHECK(loaded.step == 4);
    CHECK(!loaded.only_local);
  }
  // A checkpoint that only the hosts have is newer, too.
  stage_on_hosts(with_local(folder), 3);
  SteppedTable table(with_local(folder));
  const LoadedCheckpoint loaded = table.checkpoints().load();
  CHECK(loaded.step == 3);
  CHECK(loaded.only_local);
  table.expect_values(3);
  table.save(2);
  table.checkpoints().finish();
  CHECK(checkpoints.steps() == Steps{2, 4});
}

TEST_CASE("A checkpoint that was passed over stays until so many newer ones are there") {
  const SharedFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  const CheckpointSettings two{.folder = folder.path(), .keep = 2};
  std::vector<fs::path> files;
  const auto hide = [&](bool hidden) {
    by_one_rank([&] {
      if (hidden) files = value_files(checkpoints.step_path(3));
      for (const fs::path& file : files) {
        const fs::path other(file.string() + ".hidden");
        hidden ? fs::rename(file, other) : fs::rename(other, file);
      }
    });
  };
  for (const bool asked : {false, true}) {
    by_one_rank([&] { fs::remove_all(folder.path()); });
    save_all(two, {1, 2, 3});
    hide(true);  // one host may see this for some time
    SteppedTable table(two);
    const LoadedCheckpoint loaded =
        asked ? table.checkpoints().load({.step = 2, .is_fallback = true}) : table.checkpoints().load();
    CHECK(loaded.step == 2);
    CHECK(is_named(loaded, "/step-3/") == !asked);
    table.save(4);
    CHECK(checkpoints.steps() == Steps{2, 3, 4});
    hide(false);
    table.save(5);
    CHECK(checkpoints.steps() == Steps{4, 5});
  }
}

TEST_CASE("A checkpoint that could not be loaded does not take the place of one that was") {
  const SharedFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  const CheckpointSettings two{.folder = folder.path(), .keep = 2};
  for (const bool in_values : {false, true}) {
    by_one_rank([&] { fs::remove_all(folder.path()); });
    save_all(two, {3, 4, 5});
    std::vector<fs::path> files;
    by_one_rank([&] {
      files = value_files(checkpoints.step_path(5));
      for (const fs::path& path : files) {
        if (in_values)
          change_block(path);
        else
          fs::rename(path, path.string() + ".hidden");
      }
    });
    SteppedTable table(two);
    if (in_values) {
      check_error(Reason::damaged, "the checksum of the block", [&] { table.checkpoints().load(); });
      CHECK(table.checkpoints().load({.step = 4, .is_fallback = true}).step == 4);
    } else {
      CHECK(table.checkpoints().load().step == 4);
    }
    by_one_rank([&] {
      if (!in_values)
        for (const fs::path& path : files) fs::rename(path.string() + ".hidden", path);
    });
    table.save(6);
    CHECK(checkpoints.steps() == Steps{4, 5, 6});
    table.save(7);
    CHECK(checkpoints.steps() == Steps{6, 7});
  }
}

TEST_CASE("A local folder with parts of another run is refused") {
  const SharedFolder folder;
  save_all(with_local(folder, "/run-1"), {1});
  stage_on_hosts(with_local(folder, "/run-1"), 2);
  {
    SteppedTable table(with_local(folder, "/run-2"));
    for (const bool in_background : {false, true}) {
      check_error(Reason::foreign,
                  "-local: has a part of step 2 that is not of the run in " + folder.path() + "/run-2",
                  [&] { in_background ? table.checkpoints().save_async(1) : table.save(1); });
    }
  }
  CHECK(steps_with_values(folder.path() + "-local") == Steps{2});
  // Where the disk refuses to say of which run the part is.
  const std::string part = folder.path() + "-local/step-2/0000000000000001-r0.part.json";
  by_one_rank([&] { fs::create_symlink(part, part); });
  {
    SteppedTable table(with_local(folder, "/run-1"));
    check_error(Reason::not_readable, part, [&] { table.checkpoints().load(); });
    check_error(Reason::not_readable, part, [&] { table.save(3); });
  }
  by_one_rank([&] { fs::remove(part); });
  {
    SteppedTable table(with_local(folder, "/run-1"));
    CHECK(table.checkpoints().load().step == 2);
    table.save(2);
    table.checkpoints().finish();
  }
  // If the folder of the run has all checkpoints, the next run may use the local folder.
  save_all(with_local(folder, "/run-2"), {7});
  CHECK(steps_with_values(folder.path() + "-local").empty());
}

TEST_CASE("Parts in a local folder stay until there is something newer") {
  const SharedFolder folder;
  const CheckpointSettings settings = with_local(folder);
  const std::string local = settings.local_folder;
  save_all(settings, {1});
  stage_on_hosts(settings, 2);
  {
    // Step 2 replaces step 1, so that step 3 fits.
    SteppedTable table(settings);
    CHECK(table.checkpoints().load().step == 2);
    table.checkpoints().save_async(3);
    while (!table.checkpoints().staged()) std::this_thread::yield();
    CHECK(steps_with_values(local) == Steps{2, 3});
  }
  // A part of step 3 is lost. The next job does not load it, and keeps the other steps until it has saved.
  by_one_rank([&] {
    for (const auto& entry : fs::directory_iterator(local + "/step-3"))
      if (contains(entry.path().string(), "-r0.part")) std::ofstream(entry.path()) << "damaged";
  });
  SteppedTable table(settings);
  const LoadedCheckpoint loaded = table.checkpoints().load();
  CHECK(loaded.step == 2);
  CHECK(is_named(loaded, "/step-3/"));
  table.checkpoints().save_async(4);
  while (!table.checkpoints().staged()) std::this_thread::yield();
  CHECK(steps_with_values(local) == Steps{2, 3, 4});
  table.checkpoints().finish();
  table.save(5);
  CHECK(steps_with_values(local) == Steps{5});
}

TEST_CASE("Where values of a newer checkpoint on the hosts are bad, the one of all ranks can be loaded") {
  const SharedFolder folder;
  const CheckpointSettings settings = with_local(folder);
  constexpr std::size_t kLength = 64;  // long values, for many blocks
  const std::vector<Key> few = key_range(0, 1000);
  const std::vector<Key> many = key_range(0, 4000);
  const auto in_job = [&](const auto& f) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto dense = server.create_table<float>({.name = "dense", .keys = 10});
    const auto sparse = server.create_table<float>({.name = "sparse", .sparse = true, .length = kLength});
    Checkpoints checkpoints(server, settings);
    checkpoints.add(dense);
    checkpoints.add(sparse);
    const auto values = [&](const std::vector<Key>& keys, float value, bool sets) {
      server.run_workers(1, [&](Worker& worker) {
        if (worker.index() != 0) return;
        std::vector<float> row(keys.size() * kLength, value);
        if (sets) {
          worker.set(sparse, keys, row).wait();
          return;
        }
        std::vector<float> read(row.size());
        worker.pull(sparse, keys, read).wait();
        expect(read == row, "values of " + std::to_string(value));
      });
    };
    f(checkpoints, values);
    server.close();
  };
  in_job([&](Checkpoints& checkpoints, const auto& values) {
    values(few, 1, true);
    checkpoints.save(1);
    checkpoints.finish();
    values(many, 2, true);
    checkpoints.save_async(2);
    while (!checkpoints.staged()) std::this_thread::yield();
    MPI_Barrier(MPI_COMM_WORLD);
  });
  by_one_rank([&] {
    for (const fs::path& path : value_files(settings.local_folder + "/step-2")) {
      // In the last block: the index and the trailer take less than two pages.
      std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(-3L * 4096, std::ios::end);
      file.put('\x7f');
    }
  });
  in_job([&](Checkpoints& checkpoints, const auto& values) {
    check_error(Reason::damaged, "; step 1 can be loaded", [&] { checkpoints.load(); });
    CHECK(!checkpoints.load({.step = 1, .is_fallback = true}).only_local);
    values(few, 1, false);
    values(std::vector<Key>(many.begin() + 1000, many.end()), 0, false);
  });
}

// Checkpoints with many files, and with large application data.
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "test/mpi/checkpoints_stepped.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kFiles = 40;
constexpr std::uint64_t kTables = 30;

std::string table_name(std::uint64_t table) {
  return "table " + std::to_string(table);
}

// Writes the checkpoint of 40 ranks with one file each: each file has one key of each table.
void write_checkpoint_of_many(const CheckpointFolder& folder, Manifest manifest) {
  manifest.checkpoint = new_checkpoint_number();
  manifest.ranks = kFiles;
  for (std::uint64_t index = 0; index < kFiles; ++index) {
    const std::string name = checkpoint_file_name(manifest.checkpoint, index, kFiles);
    folder.make_step(manifest.step, name);
    DurableFile file(folder.file_path(manifest.step, name), 0);
    for (TableRecord& table : manifest.tables) {
      ShardWriter writer(
          file,
          {.checkpoint = manifest.checkpoint, .table = table.name, .element = table.element, .length = 1});
      const float value = static_cast<float>(index);
      writer.add(index, std::as_bytes(std::span(&value, 1)), 1);
      ShardRecord record = writer.finish();
      record.file = name;
      table.shards.push_back(record);
      file.align(8);
    }
    file.finish();
  }
  folder.commit(manifest);
}

// Limits the files that this process may open in addition to those that are open.
class OpenFileLimit {
 public:
  explicit OpenFileLimit(rlim_t more) {
    rlim_t open = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      open = std::max(open, static_cast<rlim_t>(std::stoul(entry.path().filename())) + 1);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = open + more;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OpenFileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFileLimit(const OpenFileLimit&) = delete;
  OpenFileLimit& operator=(const OpenFileLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("Few ranks load what many have saved with few files open") {
  const SharedFolder folder;
  const CheckpointFolder written(folder.path());
  ParameterServer server(MPI_COMM_WORLD);
  Checkpoints checkpoints(server, {.folder = folder.path()});
  std::vector<Table<float>> tables;
  for (std::uint64_t table = 0; table < kTables; ++table) {
    tables.push_back(server.create_table<float>({.name = table_name(table), .keys = kFiles}));
    checkpoints.add(tables.back());
  }
  checkpoints.save(1);
  checkpoints.load();  // Waits for the removal of old checkpoints in the background.
  if (server.rank() == Rank(0)) {
    Manifest manifest = written.manifest(1);
    manifest.step = 2;
    for (TableRecord& table : manifest.tables) table.shards.clear();
    write_checkpoint_of_many(written, manifest);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  {
    const OpenFileLimit limit(12);
    const LoadedCheckpoint loaded = checkpoints.load();
    CHECK(loaded.problems.empty());
    CHECK(loaded.step == 2);
  }
  server.run_workers(1, [&](Worker& worker) {
    for (const Table<float>& table : tables) {
      std::vector<float> values(kFiles);
      worker.pull(table, key_range(0, kFiles), values).wait();
      for (std::uint64_t key = 0; key < kFiles; ++key)
        expect(values[key] == static_cast<float>(key), "the value of key " + std::to_string(key));
    }
  });
  server.close();
}

TEST_CASE("Content of the application of any size reaches all ranks from the hosts and from the folder") {
  const SharedFolder folder;
  const CheckpointSettings settings{.folder = folder.path(), .local_folder = folder.path() + "-local"};
  const auto blob = [](std::int32_t rank, std::size_t bytes) {
    std::string text(bytes, static_cast<char>('a' + rank));
    for (std::size_t i = 0; i < bytes; i += 9999) text[i] = static_cast<char>(i / 9999);
    return text;
  };
  constexpr std::size_t kGlobalBytes = 17'000'000;
  constexpr std::size_t kWorkerBytes = 100'001;
  for (const bool is_near : {true, false}) {
    {
      SteppedTable job(settings);
      const std::int32_t rank = job.server().rank().value();
      job.checkpoints().save_async(
          1, {.global = blob(-1, kGlobalBytes), .per_worker = {blob(rank, kWorkerBytes), ""}});
      while (!job.checkpoints().staged()) std::this_thread::yield();
      MPI_Barrier(MPI_COMM_WORLD);
      if (!is_near) job.checkpoints().finish();
    }
    SteppedTable table(settings);
    const LoadedCheckpoint loaded = table.checkpoints().load();
    CHECK(loaded.step == 1);
    CHECK(loaded.only_local == is_near);
    CHECK((loaded.global == blob(-1, kGlobalBytes)));
    const auto ranks = static_cast<std::size_t>(table.server().ranks());
    REQUIRE(loaded.per_worker.size() == 2 * ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      CHECK((loaded.per_worker[2 * rank] == blob(static_cast<std::int32_t>(rank), kWorkerBytes)));
      CHECK(loaded.per_worker[2 * rank + 1].empty());
    }
  }
}

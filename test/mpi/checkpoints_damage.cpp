// Files of the newest checkpoint are truncated, changed, exchanged or missing: the error says so on every
// rank, and the previous checkpoint is found.
#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
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

void change_byte(const std::string& path, std::uintmax_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

// Damages step 2, given its file of values and its manifest. `older`: those of step 1.
struct Files {
  std::string values;
  std::string manifest;
};
struct Damage {
  std::string name;
  Reason reason;
  std::string part;  // of the message
  std::function<void(const Files& files, const Files& older)> make;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"values cut off", Reason::truncated, ".shards",
       [](const Files& files, const Files&) { fs::resize_file(files.values, 300); }},
      {"empty values", Reason::truncated, ".shards",
       [](const Files& files, const Files&) { fs::resize_file(files.values, 0); }},
      {"values of another checkpoint", Reason::foreign, ".shards",
       [](const Files& files, const Files& older) {
         fs::copy_file(older.values, files.values, fs::copy_options::overwrite_existing);
       }},
      {"a header with a changed bit", Reason::damaged, ".shards",
       [](const Files& files, const Files&) { change_byte(files.values, 20); }},
      {"a header with a later version", Reason::damaged, "has a damaged header at byte 0: version",
       [](const Files& files, const Files&) { change_byte(files.values, 9); }},
      {"no values", Reason::missing, ".shards",
       [](const Files& files, const Files&) { fs::remove(files.values); }},
      {"a manifest cut off", Reason::damaged, "manifest.json",
       [](const Files& files, const Files&) {
         fs::resize_file(files.manifest, fs::file_size(files.manifest) / 2);
       }},
      {"an empty manifest", Reason::truncated, "manifest.json",
       [](const Files& files, const Files&) { fs::resize_file(files.manifest, 0); }},
      {"a manifest with a changed bit", Reason::damaged, "manifest.json",
       [](const Files& files, const Files&) {
         change_byte(files.manifest, fs::file_size(files.manifest) / 2);
       }},
      {"the manifest of another step", Reason::foreign, "manifest.json",
       [](const Files& files, const Files& older) {
         fs::copy_file(older.manifest, files.manifest, fs::copy_options::overwrite_existing);
       }},
      {"no manifest", Reason::missing, "manifest.json",
       [](const Files& files, const Files&) { fs::remove(files.manifest); }}};
  return all;
}

Files files_of(const CheckpointFolder& folder, std::uint64_t step) {
  return {folder.file_path(step, folder.manifest(step).tables[0].shards[0].file),
          folder.file_path(step, std::string(Manifest::kFile))};
}

}  // namespace

TEST_CASE("A newest checkpoint with damaged files is refused, and the one before is loaded") {
  const SharedFolder folder;
  SteppedTable table(folder.path());
  table.save(1);
  const CheckpointFolder checkpoints(folder.path());
  for (const Damage& damage : damages()) {
    INFO(damage.name);
    table.save(2);
    if (table.is_last_rank()) damage.make(files_of(checkpoints, 2), files_of(checkpoints, 1));
    MPI_Barrier(MPI_COMM_WORLD);
    const LoadedCheckpoint loaded = table.checkpoints().load();
    CHECK(loaded.step == 1);
    table.expect_values(1);
    // Without a manifest, step 2 is no checkpoint.
    const bool is_listed = damage.name != "no manifest";
    REQUIRE(loaded.problems.size() == (is_listed ? 1 : 0));
    if (is_listed) CHECK(contains(loaded.problems[0], damage.part));
    check_error(damage.reason, damage.part, [&] { table.checkpoints().load({.step = 2}); });
    check_error(damage.reason, "step 1 can be loaded", [&] { table.checkpoints().load({.step = 2}); });
    // The next save replaces it, and needs none of its files.
    MPI_Barrier(MPI_COMM_WORLD);
  }
  table.save(2);
  CHECK(table.checkpoints().load().step == 2);
}

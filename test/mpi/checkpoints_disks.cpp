// Disks that are full, become full, or are read-only. Uses a small file system, which the environment
// variable LAPSE_TEST_DISK names (checkpoints_disks.sh).
#include <mpi.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "test/mpi/checkpoints_stepped.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKeys = 30'000;  // a checkpoint has about 400 KB

std::string disk() {
  const char* const path = std::getenv("LAPSE_TEST_DISK");
  if (path == nullptr) throw std::runtime_error("LAPSE_TEST_DISK names no folder");
  return path;
}

// Fills the disk except for the given number of bytes.
class Filler {
 public:
  explicit Filler(const SteppedTable& table, std::uintmax_t left = 0) : is_mine_(table.is_last_rank()) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_mine_) {
      std::ofstream file(path(), std::ios::binary);
      const std::vector<char> block(4096);
      while (file && fs::space(disk()).available > left) file.write(block.data(), 4096).flush();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Filler() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (is_mine_) fs::remove(path(), ignored);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

 private:
  static std::string path() { return disk() + "/filler"; }
  bool is_mine_;
};

// All files and folders of checkpoints.
std::vector<std::string> all_files(const std::string& folder) {
  std::vector<std::string> files;
  MPI_Barrier(MPI_COMM_WORLD);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) files.push_back(entry.path().string());
  std::ranges::sort(files);
  MPI_Barrier(MPI_COMM_WORLD);
  return files;
}

}  // namespace

TEST_CASE("A full disk leaves the earlier checkpoint, and nothing else") {
  const std::string folder = disk() + "/full";
  SteppedTable table(folder, kKeys);
  table.save(1);
  const std::vector<std::string> before = all_files(folder);
  table.set(2);
  {
    const Filler filler(table, 100'000);
    check_error(Reason::no_space, "cannot be reserved", [&] { table.checkpoints().save(2); });
    CHECK(all_files(folder) == before);
    table.checkpoints().save_async(2);
    table.set(3);
    check_error(Reason::no_space, "cannot be reserved", [&] { table.checkpoints().finish(); });
    CHECK(all_files(folder) == before);
    table.expect_values(3);
    CHECK(table.checkpoints().load().step == 1);
    table.expect_values(1);
  }
  table.save(3);
  CHECK(CheckpointFolder(folder).steps() == std::vector<std::uint64_t>{1, 3});
}

TEST_CASE("A disk that becomes full in the middle of a save in the background") {
  const std::string folder = disk() + "/middle";
  SteppedTable table(folder, kKeys);
  table.save(1);
  const std::vector<std::string> before = all_files(folder);
  table.set(2);
  table.checkpoints().save_async(2);
  while (!table.checkpoints().done()) std::this_thread::yield();
  {
    // The values fit on the disk; the manifest does not.
    const Filler filler(table);
    check_error(Reason::no_space, "manifest.json.tmp", [&] { table.checkpoints().finish(); });
    CHECK(all_files(folder) == before);
    CHECK(table.checkpoints().load().step == 1);
  }
  table.save(2);
  CHECK(table.checkpoints().load().step == 2);
  table.expect_values(2);
}

TEST_CASE("A disk that is read-only") {
  const std::string folder = disk() + "/read-only";
  {
    SteppedTable table(folder, kKeys);
    table.save(1);
  }
  const auto remount = [&](unsigned long flags) {
    MPI_Barrier(MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int status = rank == 0 ? ::mount(nullptr, disk().c_str(), nullptr, MS_REMOUNT | flags, nullptr) : 0;
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    REQUIRE(status == 0);
  };
  remount(MS_RDONLY);
  {
    SteppedTable table(folder, kKeys);
    check_error(Reason::not_writable, "Read-only file system", [&] { table.checkpoints().save(2); });
    check_error(Reason::not_writable, "Read-only file system", [&] { table.checkpoints().save_async(2); });
    CHECK(table.checkpoints().load().step == 1);
    table.expect_values(1);
  }
  remount(0);
  SteppedTable table(folder, kKeys);
  table.save(2);
  CHECK(table.checkpoints().load().step == 2);
}

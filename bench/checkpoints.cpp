// Checkpoints, compared with plain copies, writes and reads of as many bytes: 2 ranks, each with half of the
// keys of a table of 64 floats with Adagrad state (512 bytes a key), 512 MB in all or as many as --megabytes
// says; 5 runs. The disk is that of --folder.
//
//   case                 ranks  metric     baseline
//   save_async             2    pause      memcpy of each rank's bytes, into memory that was used before
//   save_async first       2    pause      the same, into memory that is new
//   save_async moved       2    pause      as save_async, where a tenth of the keys was moved
//   save_async sparse      2    pause      as save_async, of a sparse table
//   save                   2    bandwidth  each rank writes its bytes into one file, and syncs it
//   load                   2    bandwidth  each rank reads its bytes from this file
//   load from disk         2    bandwidth  as load, where the files have to come from the disk
//   read                   2    bandwidth  as load; reads and checks, without bringing values to their keys
//
// Pauses are those of the slower rank. Files are read from the page cache, unless stated. A baseline follows
// each run, so that both meet the same load of the disk.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/core/error.hpp"
#include "lapse/jobs/checkpoints.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kLengthOfRow = 64;
constexpr std::size_t kRowBytes = 2 * kLengthOfRow * sizeof(float);
constexpr std::size_t kRuns = 5;
constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// The seconds of f() on the slowest rank. All ranks begin together.
template <class F>
double slowest(Bench& bench, F&& f) {
  MPI_Barrier(bench.plain());
  const Clock::time_point begin = Clock::now();
  f();
  double seconds = seconds_between(begin, Clock::now());
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, bench.plain());
  return seconds;
}

// Removes a synced file from the page cache.
void drop_from_cache(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  const bool dropped = descriptor >= 0 && ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!dropped) throw Error("the cache keeps " + path);
}

// Memory in huge pages if available, like the memory of a copy being saved.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        begin_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (begin_ == MAP_FAILED) throw OutOfMemory("no memory for a baseline");
    ::madvise(begin_, bytes, MADV_HUGEPAGE);
  }
  ~Pages() { ::munmap(begin_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<std::byte> bytes() { return {begin_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

// The data that a program without a server would copy, write and read: an array on each rank.
class PlainArray {
 public:
  PlainArray(Bench& bench, std::string file, std::size_t bytes)
      : bench_(bench), file_(std::move(file)), values_(bytes) {}
  ~PlainArray() { std::filesystem::remove(file_); }
  PlainArray(const PlainArray&) = delete;
  PlainArray& operator=(const PlainArray&) = delete;

  // Each returns seconds.
  double copy() {
    if (copy_ == nullptr) copy_to_new_memory();
    return slowest(bench_, [&] { copy_all(); });
  }
  double copy_to_new_memory() {
    fill();
    copy_.reset();
    return slowest(bench_, [&] {
      copy_ = std::make_unique<Pages>(values_.bytes().size());
      copy_all();
    });
  }
  double write() {
    fill();
    if (bench_.rank() == 0) std::filesystem::remove(file_);
    return slowest(bench_, [&] {
      const int descriptor = ::open(file_.c_str(), O_WRONLY | O_CREAT, 0666);
      const std::span<const std::byte> bytes = values_.bytes();
      bool done = descriptor >= 0;
      for (std::size_t at = 0; done && at < bytes.size(); at += kPiece) {
        const std::size_t now = std::min(kPiece, bytes.size() - at);
        done = ::pwrite(descriptor, bytes.data() + at, now, offset(at)) == static_cast<ssize_t>(now);
      }
      if (!done || ::fsync(descriptor) != 0 || ::close(descriptor) != 0)
        throw Error("the baseline cannot write " + file_);
    });
  }
  double read_from_disk() {
    drop_from_cache(file_);
    return read();
  }
  double read() {
    return slowest(bench_, [&] {
      const ReadableFile file(file_);
      const std::span<std::byte> bytes = values_.bytes();
      for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
        const std::size_t now = std::min(kPiece, bytes.size() - at);
        file.read(static_cast<std::uint64_t>(offset(at)), bytes.subspan(at, now));
      }
    });
  }

 private:
  static constexpr std::size_t kPiece = kMegabyte;

  // If the plain programs do not run, their memory is never touched.
  void fill() {
    if (!filled_) std::memset(values_.bytes().data(), 1, values_.bytes().size());
    filled_ = true;
  }
  void copy_all() { std::memcpy(copy_->bytes().data(), values_.bytes().data(), values_.bytes().size()); }
  off_t offset(std::size_t at) {
    return static_cast<off_t>(values_.bytes().size() * static_cast<std::size_t>(bench_.rank()) + at);
  }

  Bench& bench_;
  std::string file_;
  Pages values_;
  bool filled_ = false;
  std::unique_ptr<Pages> copy_;
};

// A table with values for all keys, to save and load.
class SavedTable {
 public:
  SavedTable(Bench& bench, std::string folder, std::size_t bytes, bool sparse)
      : bench_(bench),
        keys_(bytes / kRowBytes),
        folder_(std::move(folder)),
        server_(MPI_COMM_WORLD, quiet_options()),
        table_(server_.create_table<float>({.name = "table",
                                            .keys = sparse ? 0 : keys_,
                                            .sparse = sparse,
                                            .length = kLengthOfRow,
                                            .update_rule = UpdateRule::adagrad()})) {
    make_checkpoints();
    for_each_batch([&](Worker& worker, const std::vector<Key>& keys) {
      worker.push(table_, keys, std::vector<float>(keys.size() * kLengthOfRow, 0.5F)).wait();
    });
  }
  ~SavedTable() {
    checkpoints_.reset();
    server_.close();
    if (bench_.rank() == 0) std::filesystem::remove_all(folder_);
  }
  SavedTable(const SavedTable&) = delete;
  SavedTable& operator=(const SavedTable&) = delete;

  std::size_t bytes() const { return keys_ * kRowBytes; }
  void make_checkpoints() {
    checkpoints_.reset();
    MPI_Barrier(bench_.plain());
    checkpoints_.emplace(server_, CheckpointSettings{.folder = folder_});
    checkpoints_->add(table_);
  }
  // Moves every tenth batch of keys to another rank.
  void move_some() {
    for_each_batch([&](Worker& worker, const std::vector<Key>& keys) {
      if (keys[0].value() / kBatch % 10 == 0) worker.localize(table_, keys).wait();
    });
  }

  // Each returns seconds.
  double save() {
    remove();
    return slowest(bench_, [&] { checkpoints_->save(1); });
  }
  double pause() {
    remove();
    const double seconds = slowest(bench_, [&] { checkpoints_->save_async(1); });
    checkpoints_->finish();
    return seconds;
  }
  double load() {
    return slowest(bench_, [&] { checkpoints_->load(); });
  }
  double load_from_disk() {
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) drop_from_cache(entry.path());
    return load();
  }
  double read() {
    const CheckpointFolder folder(folder_);
    const Manifest manifest = folder.manifest(1);
    const std::vector<ShardRecord>& shards = manifest.tables[0].shards;
    return slowest(bench_, [&] {
      ShardBlock block;
      for (std::size_t i = 0; i < shards.size(); ++i) {
        if (i % static_cast<std::size_t>(bench_.ranks()) != static_cast<std::size_t>(bench_.rank())) continue;
        const ShardReader shard = folder.open(manifest, shards[i]);
        for (const BlockRecord& record : shard.blocks()) shard.read(record, block);
      }
    });
  }

 private:
  static constexpr std::uint64_t kBatch = 1000;

  // Removing a file takes as long as syncing it; neither runs nor baselines include it.
  void remove() {
    if (bench_.rank() == 0) std::filesystem::remove_all(folder_ + "/step-1");
    MPI_Barrier(bench_.plain());
  }
  // One of the workers, one on each rank, handles each batch.
  template <class F>
  void for_each_batch(F&& f) {
    server_.run_workers(1, [&](Worker& worker) {
      for (std::uint64_t first = worker.index() * kBatch; first < keys_; first += worker.count() * kBatch) {
        std::vector<Key> keys;
        for (std::uint64_t key = first; key < std::min(first + kBatch, keys_); ++key) keys.emplace_back(key);
        f(worker, keys);
      }
    });
  }

  Bench& bench_;
  std::uint64_t keys_;
  std::string folder_;
  ParameterServer server_;
  Table<float> table_;
  std::optional<Checkpoints> checkpoints_;
};

void measure_checkpoints(Bench& bench) {
  const std::size_t bytes = bench.megabytes(512, 8) * kMegabyte;
  const std::string folder = bench.folder() + "/lapse-bench-checkpoints";
  PlainArray plain(bench, folder + "-plain", bytes / static_cast<std::size_t>(bench.ranks()));
  const auto compare = [&](const std::string& name, const std::string& metric, const std::string& baseline,
                           const std::function<double()>& seconds,
                           const std::function<double()>& of_baseline) {
    if (!bench.selected(name)) return;
    const bool is_pause = metric == "pause";
    const double gigabytes = static_cast<double>(bytes) * 1e-9;
    const auto figure = [=](const std::function<double()>& f) {
      return [=] { return is_pause ? 1e3 * f() : gigabytes / f(); };
    };
    bench.measure({.name = name,
                   .metric = metric,
                   .unit = is_pause ? "ms" : "GB/s",
                   .ranks = bench.ranks(),
                   .workers = bench.ranks()},
                  kRuns, figure(seconds), baseline, figure(of_baseline));
  };
  const auto copy = [&] { return plain.copy(); };
  {
    SavedTable table(bench, folder, bytes, false);
    const auto pause = [&] { return table.pause(); };
    compare(
        "save", "bandwidth", "plain write", [&] { return table.save(); }, [&] { return plain.write(); });
    table.save();
    if (bench.baselines()) plain.write();
    compare(
        "load", "bandwidth", "plain read", [&] { return table.load(); }, [&] { return plain.read(); });
    compare(
        "load from disk", "bandwidth", "plain read", [&] { return table.load_from_disk(); },
        [&] { return plain.read_from_disk(); });
    compare(
        "read", "bandwidth", "plain read", [&] { return table.read(); }, [&] { return plain.read(); });
    compare(
        "save_async first", "pause", "memcpy to new memory",
        [&] {
          table.make_checkpoints();
          return table.pause();
        },
        [&] { return plain.copy_to_new_memory(); });
    compare("save_async", "pause", "memcpy", pause, copy);
    if (bench.selected("save_async moved")) table.move_some();
    compare("save_async moved", "pause", "memcpy", pause, copy);
  }
  if (!bench.selected("save_async sparse")) return;
  SavedTable table(bench, folder, bytes, true);
  compare(
      "save_async sparse", "pause", "memcpy", [&] { return table.pause(); }, copy);
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Saving and loading against plain copies, writes and reads",
                       &measure_checkpoints);
}

// A long mixed workload: pulls, pushes, sets, calls, leases, localizes, intents, replicas, checkpoints and
// loads of several tables, and servers that are made and closed. All sums are exact, and memory does not
// grow.
//   soak SECONDS FOLDER [SEED [PARTS]]
// PARTS: the parts besides work, to find out which one grows: s saves, a saves in the background, l loads, n
// new servers. By default all.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/soak_memory.hpp"
#include "test/mpi/soak_tables.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;
using lapse::test::SoakMemory;
using lapse::test::SoakSums;
using lapse::test::SoakTables;
using Time = std::chrono::steady_clock;

constexpr std::int32_t kWorkers = 2;  // per rank
constexpr int kBatches = 150;         // per worker and phase

// Collective. Broadcasts rank 0's object.
double agreed(double value) {
  MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return value;
}

class Soak {
 public:
  Soak(double seconds, const std::string& folder, std::uint64_t seed, std::string parts)
      : seconds_(seconds),
        seed_(seed),
        parts_(std::move(parts)),
        manager_(MPI_COMM_WORLD),
        tables_(manager_),
        checkpoints_(manager_.server(), {.folder = folder, .keep = 2}) {
    tables_.add_to(checkpoints_);
  }

  void run() {
    double elapsed = 0;
    double next_report = 0;
    for (std::uint64_t cycle = 0; elapsed < seconds_; ++cycle) {
      work();
      if (cycle % 3 == 0 && has('s')) save();
      if (cycle % 3 == 1 && has('a')) save_while_working();
      if (cycle % 5 == 4 && has('l')) load();
      if (cycle % 8 == 7 && has('n')) short_server();
      elapsed = agreed(std::chrono::duration<double>(Time::now() - begin_).count());
      if (elapsed < next_report) continue;
      report(elapsed);
      next_report = elapsed + seconds_ / kReports;
    }
    report(elapsed);
    manager_.close();
    const std::string growth = memory_.growth(manager_.ranks());
    if (!growth.empty()) throw std::runtime_error("memory: " + growth);
  }

 private:
  static constexpr int kReports = 60;

  bool has(char part) const { return parts_.find(part) != std::string::npos; }
  bool prints() const { return manager_.rank() == Rank(0); }

  void work() {
    const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(++phases_);
    lapse::test::run_soak_phase(manager_, tables_, kWorkers, seed, kBatches, phases_ <= 3, sums_);
  }
  void save() {
    checkpoints_.save(++step_, {.global = SoakTables::to_text(sums_)});
    ++saves_;
  }
  void save_while_working() {
    checkpoints_.save_async(++step_, {.global = SoakTables::to_text(sums_)});
    ++saves_;
    work();
    checkpoints_.finish();
  }
  void load() {
    const LoadedCheckpoint loaded = checkpoints_.load();
    expect(loaded.problems.empty(), "whole checkpoints");
    expect(loaded.step == step_, "the newest checkpoint");
    sums_ = SoakTables::from_text(loaded.global);
    ++loads_;
  }
  void short_server() {
    ParameterServer server(MPI_COMM_WORLD, manager_.options().server);
    const auto table = server.create_table<float>({.name = "short", .keys = 1000, .length = 16});
    server.run_workers(1, [&](Worker& worker) {
      const std::vector<Key> keys = lapse::test::key_range(0, 1000);
      worker.push(table, keys, std::vector<float>(16000, 1));
      worker.barrier();
      std::vector<float> values(16000);
      worker.pull(table, keys, values).wait();
      expect(values == std::vector<float>(16000, static_cast<float>(worker.count())), "a sum of all workers");
    });
    server.close();
    ++servers_;
  }

  void report(double elapsed) {
    const SoakMemory::Numbers numbers = SoakMemory::of_job();
    const adapm::Statistics statistics = manager_.statistics();
    memory_.add(numbers);
    if (!prints()) return;
    if (memory_.count() == 1) {
      std::printf("%8s %7s %6s %6s %7s %12s %11s %11s", "s", "phases", "saves", "loads", "servers",
                  "accesses", "relocations", "copies");
      for (const SoakMemory::Kind& kind : SoakMemory::kKinds) std::printf(" %12s", kind.name.data());
      std::printf("\n");
    }
    TableCounters all;
    for (std::size_t table = 0; table < statistics.server.table_names.size(); ++table)
      all += statistics.server.table_total(TableId(static_cast<std::uint32_t>(table)));
    const std::uint64_t accesses = all.local_pulls + all.local_pushes + all.remote_pulls + all.remote_pushes;
    std::printf("%8.1f %7d %6d %6d %7d %12llu %11llu %11llu", elapsed, phases_, saves_, loads_, servers_,
                static_cast<unsigned long long>(accesses),
                static_cast<unsigned long long>(all.relocations_in),
                static_cast<unsigned long long>(all.copies_in));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      std::printf(" %12lld", static_cast<long long>(numbers[i] / SoakMemory::kKinds[i].unit));
    std::printf("\n");
    std::fflush(stdout);
  }

  const Time::time_point begin_ = Time::now();
  double seconds_;
  std::uint64_t seed_;
  std::string parts_;
  int phases_ = 0;
  std::uint64_t step_ = 0;
  int saves_ = 0;
  int loads_ = 0;
  int servers_ = 0;
  SoakSums sums_ = SoakTables::no_sums();
  SoakMemory memory_;
  adapm::ParameterManager manager_;
  SoakTables tables_;
  Checkpoints checkpoints_;
};

void run(int argument_count, char** arguments) {
  if (argument_count < 3) throw std::invalid_argument("expected SECONDS FOLDER [SEED [PARTS]]");
  const double seed = agreed(argument_count > 3 ? std::strtod(arguments[3], nullptr)
                                                : static_cast<double>(std::random_device{}() % 1'000'000));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("seed %.0f\n", seed);
  // Checkpoints of another run may be newer.
  const std::string folder = arguments[2] + ("/soak-" + std::to_string(static_cast<int>(agreed(getpid()))));
  {
    Soak soak(std::strtod(arguments[1], nullptr), folder, static_cast<std::uint64_t>(seed),
              argument_count > 4 ? arguments[4] : "saln");
    try {
      soak.run();
    } catch (const std::exception& error) {
      // The manager is not closed, which ends the job.
      std::fprintf(stderr, "rank %d: error: %s\n", rank, error.what());
      throw;
    }
    // Its end waits for the thread that removes old checkpoints.
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove_all(folder);
  if (rank == 0) std::puts("all sums are exact, and memory does not grow");
}

}  // namespace

int main(int argument_count, char** arguments) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_SERIALIZED, &provided);
  try {
    run(argument_count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

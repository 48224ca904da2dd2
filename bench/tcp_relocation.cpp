#include "bench/tcp_relocation.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 20;

struct TcpCase {
  std::string name;
  std::size_t length;  // floats of a value
  std::size_t keys;    // of the table
  std::size_t turns;   // of localizing all of them, in a run; even
  std::size_t batch;
  std::size_t under_way;  // batches; 1: each is waited for
};

const std::vector<TcpCase> kCases = {
    {"tcp batch 1 waiting", kLength, 5'000, 2, 1, 1},
    {"tcp batch 10000 async", kLength, 50'000, 10, 10'000, 5},
    {"tcp batch 10000 async 1 KB", 256, 50'000, 2, 10'000, 5},
};

// Collective over two ranks. Rank 1 sends `bytes` to rank 0 in pieces of 1 MiB, all under way at once, as
// soon as rank 0 asks. Returns the seconds from there to the last piece on rank 0, 0 elsewhere.
double bulk_transfer(MPI_Comm communicator, int rank, std::vector<std::byte>& buffer) {
  constexpr std::size_t kPieceBytes = 1 << 20;
  std::vector<MPI_Request> open((buffer.size() + kPieceBytes - 1) / kPieceBytes);
  MPI_Barrier(communicator);
  const Clock::time_point begin = Clock::now();
  if (rank == 0) {
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, communicator);
  } else {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, communicator, MPI_STATUS_IGNORE);
  }
  std::span<std::byte> rest = buffer;
  for (MPI_Request& request : open) {
    const std::size_t bytes = std::min(rest.size(), kPieceBytes);
    if (rank == 0) {
      MPI_Irecv(rest.data(), static_cast<int>(bytes), MPI_BYTE, 1, 0, communicator, &request);
    } else {
      MPI_Isend(rest.data(), static_cast<int>(bytes), MPI_BYTE, 0, 0, communicator, &request);
    }
    rest = rest.subspan(bytes);
  }
  MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
  const double seconds = seconds_between(begin, Clock::now());
  MPI_Barrier(communicator);
  return rank == 0 ? seconds : 0;
}

class TcpRelocation {
 public:
  explicit TcpRelocation(Bench& bench) : bench_(bench), server_(MPI_COMM_WORLD, quiet_options()) {}

  void measure(const TcpCase& what) {
    const std::uint64_t count = bench_.size(what.keys, 5 * what.batch);
    const auto table = server_.create_table<float>({.name = what.name, .keys = count, .length = what.length});
    const std::vector<Key> keys = shuffled_keys(0, count, 0);
    const std::size_t turns = bench_.size(what.turns, 2);
    const auto moves = static_cast<double>(turns * count);
    const std::size_t key_bytes = kKeyBytes + what.length * sizeof(float);
    std::vector<std::byte> bulk(what.batch > 1 ? count * key_bytes : 0);

    server_.run_workers(1, [&](Worker& worker) {
      if (worker.rank() == Rank(1)) worker.localize(table, keys).wait();
    });
    counted_ -= relocations(table);
    Series rates;
    const auto plain_turn = [&] {
      if (what.batch > 1) return bulk_transfer(bench_.plain(), bench_.rank(), bulk);
      return ping_pong(bench_.plain(), count, {kKeyBytes, key_bytes});
    };
    const std::size_t runs = bench_.runs(kRuns);
    for (std::size_t run = 0; run < runs + 1; ++run) {
      const double value = moves / seconds_of_run(what, table, keys, turns);
      const double twin = bench_.twins() ? static_cast<double>(count) / plain_turn() : 0;
      if (run == 0) continue;  // To warm up.
      rates.values.push_back(value);
      if (bench_.twins()) rates.twins.push_back(twin);
    }
    add(what, rates, key_bytes);
    counted_ += relocations(table);
    expected_ += (runs + 1) * turns * count;
  }

  void close() {
    server_.close();
    expect_count("relocations", counted_, expected_);
  }

 private:
  void add(const TcpCase& what, const Series& rates, std::size_t key_bytes) {
    const char* const twin_name = what.batch > 1 ? "MPI messages of 1 MiB" : "MPI ping-pong";
    bench_.add({what.name, "rate", "keys/s", 2, 1}, twin_name, rates);
    if (what.batch == 1) return;
    Series bandwidths = rates;
    for (double& value : bandwidths.values) value *= static_cast<double>(key_bytes);
    for (double& twin : bandwidths.twins) twin *= static_cast<double>(key_bytes);
    bench_.add({what.name, "bandwidth", "B/s", 2, 1}, twin_name, bandwidths);
  }

  // Collective. Seconds in which one of the ranks localized.
  double seconds_of_run(const TcpCase& what, const Table<float>& table, std::span<const Key> keys,
                        std::size_t turns) {
    double seconds = 0;
    server_.run_workers(1, [&](Worker& worker) {
      for (std::size_t turn = 0; turn < turns; ++turn) {
        worker.barrier();
        if (worker.index() == turn % 2) seconds += localize_all(worker, what, table, keys);
      }
    });
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_SUM, bench_.plain());
    return seconds;
  }

  static double localize_all(Worker& worker, const TcpCase& what, const Table<float>& table,
                             std::span<const Key> keys) {
    std::vector<Operation> under_way;
    under_way.reserve(what.under_way);
    const Clock::time_point begin = Clock::now();
    while (!keys.empty()) {
      for (std::size_t i = 0; i < what.under_way; ++i) {
        under_way.push_back(worker.localize(table, keys.first(what.batch)));
        keys = keys.subspan(what.batch);
      }
      for (Operation& operation : under_way) operation.wait();
      under_way.clear();
    }
    return seconds_between(begin, Clock::now());
  }

  std::uint64_t relocations(const Table<float>& table) {
    return server_.statistics().table_total(table.id()).relocations_in;
  }

  Bench& bench_;
  ParameterServer server_;
  std::uint64_t counted_ = 0;  // relocations while measuring
  std::uint64_t expected_ = 0;
};

}  // namespace

void measure_tcp_relocation(Bench& bench) {
  TcpRelocation relocation(bench);
  for (const TcpCase& what : kCases) {
    if (bench.selected(what.name)) relocation.measure(what);
  }
  relocation.close();
}

}  // namespace lapse::bench

#include "bench/tcp_relocation.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/relocation_turns.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

const std::vector<RelocationCase> kCases = {
    {.name = "tcp batch 1 waiting", .keys = 5'000, .turns = 2, .batch = 1},
    {.name = "tcp batch 10000 async", .keys = 50'000, .turns = 10, .batch = 10'000, .in_flight = 5},
    {.name = "tcp batch 10000 async 1 KB",
     .keys = 50'000,
     .turns = 2,
     .batch = 10'000,
     .in_flight = 5,
     .length = 256},
};

// Collective over two ranks. Rank 1 sends the buffer to rank 0 in pieces of 1 MiB, all in flight at once, as
// soon as rank 0 asks. Returns on rank 0 the seconds from its request to the last piece, on rank 1 0.
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

void add(Bench& bench, const RelocationCase& what, const Series& rates, std::size_t key_bytes) {
  const char* const baseline_name = what.batch > 1 ? "MPI messages of 1 MiB" : "MPI ping-pong";
  bench.add({.name = what.name, .metric = "rate", .unit = "keys/s", .ranks = 2}, baseline_name, rates);
  if (what.batch == 1) return;
  Series bandwidths = rates;
  for (double& value : bandwidths.values) value *= static_cast<double>(key_bytes);
  for (double& baseline : bandwidths.baselines) baseline *= static_cast<double>(key_bytes);
  bench.add({.name = what.name, .metric = "bandwidth", .unit = "B/s", .ranks = 2}, baseline_name, bandwidths);
}

void measure_case(Bench& bench, RelocationTurns& turns, const RelocationCase& what) {
  const RelocationTurns::Keys keys = turns.prepare(what);
  const std::size_t count = keys.keys.size();
  const std::size_t key_bytes = kKeyBytes + what.length * sizeof(float);
  std::vector<std::byte> bulk(what.batch > 1 ? count * key_bytes : 0);
  const auto plain_turn = [&] {
    if (what.batch > 1) return bulk_transfer(bench.plain(), bench.rank(), bulk);
    return ping_pong(bench.plain(), count, {kKeyBytes, key_bytes});
  };
  Series rates;
  const std::size_t runs = bench.runs(kRelocationRuns);
  for (std::size_t run = 0; run < runs + 1; ++run) {
    const double value = turns.rate(what, keys);
    const double baseline = bench.baselines() ? static_cast<double>(count) / plain_turn() : 0;
    if (run == 0) continue;  // To warm up.
    rates.values.push_back(value);
    if (bench.baselines()) rates.baselines.push_back(baseline);
  }
  add(bench, what, rates, key_bytes);
  turns.finish(keys);
}

}  // namespace

void measure_tcp_relocation(Bench& bench) {
  RelocationTurns turns(bench, quiet_options());
  for (const RelocationCase& what : kCases) {
    if (bench.selected(what.name)) measure_case(bench, turns, what);
  }
  turns.close();
}

}  // namespace lapse::bench

#include "bench/tcp_access.hpp"

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/plain_exchange.hpp"
#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;  // accessed keys: the upper half of the table, whose home is rank 1
constexpr std::size_t kRuns = 20;

struct TcpCase {
  std::string name;
  bool push = false;
  std::size_t batch;          // keys in a call
  std::size_t calls;          // in a run
  std::size_t in_flight = 1;  // calls; 1: each is waited for
  bool by_hand = false;       // the baseline also reads or changes rows, instead of only sending messages
};

const std::vector<TcpCase> kCases = {
    {.name = "tcp pull", .batch = 1, .calls = 5'000},
    {.name = "tcp push", .push = true, .batch = 1, .calls = 5'000},
    {.name = "tcp pull batch 64", .batch = 64, .calls = 5'000},
    {.name = "tcp pull batch 100", .batch = 100, .calls = 2'000, .by_hand = true},
    {.name = "tcp push batch 100", .push = true, .batch = 100, .calls = 2'000, .by_hand = true},
    {.name = "tcp pull batch 1000", .batch = 1000, .calls = 500, .by_hand = true},
    {.name = "tcp pull batch 100 async", .batch = 100, .calls = 5'000, .in_flight = 10},
    {.name = "tcp push batch 100 async", .push = true, .batch = 100, .calls = 5'000, .in_flight = 10},
};

// Collective over two ranks. Rank 0 sends `rounds` requests to rank 1; at most `in_flight` requests are
// unanswered. Returns the seconds on rank 0, 0 on rank 1.
double overlapping_ping_pong(MPI_Comm communicator, int rank, std::size_t rounds, std::size_t in_flight,
                             const MessagePair& messages) {
  std::vector<std::byte> request(messages.request_bytes);
  std::vector<std::byte> answers(in_flight * messages.answer_bytes);
  std::vector<MPI_Request> open(in_flight, MPI_REQUEST_NULL);
  const int request_bytes = static_cast<int>(messages.request_bytes);
  const int answer_bytes = static_cast<int>(messages.answer_bytes);
  MPI_Barrier(communicator);
  const Clock::time_point begin = Clock::now();
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t slot = round % in_flight;
    std::byte* const answer = answers.data() + slot * messages.answer_bytes;
    if (rank == 0) {
      MPI_Wait(&open[slot], MPI_STATUS_IGNORE);
      MPI_Irecv(answer, answer_bytes, MPI_BYTE, 1, 0, communicator, &open[slot]);
      MPI_Send(request.data(), request_bytes, MPI_BYTE, 1, 0, communicator);
    } else {
      MPI_Recv(request.data(), request_bytes, MPI_BYTE, 0, 0, communicator, MPI_STATUS_IGNORE);
      MPI_Send(answer, answer_bytes, MPI_BYTE, 0, 0, communicator);
    }
  }
  MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
  const double seconds = seconds_between(begin, Clock::now());
  MPI_Barrier(communicator);
  return rank == 0 ? seconds : 0;
}

class TcpAccess {
 public:
  explicit TcpAccess(Bench& bench)
      : bench_(bench),
        server_(MPI_COMM_WORLD, quiet_options()),
        table_(server_.create_table<float>(
            {.name = "access", .keys = 2 * kKeys, .length = kLength, .home = HomeMapKind::range})),
        plain_exchange_(bench.plain(), kKeys, kKeys) {}

  void measure(const TcpCase& what) {
    const std::size_t calls = bench_.size(what.calls, 4 * what.in_flight);
    const std::vector<Key> keys = random_keys(kKeys, kKeys, calls * what.batch, 0);
    const bool rate = what.in_flight > 1 || what.by_hand;
    // Computes the case's figure from the seconds of a run.
    const auto figure = [&](double seconds) {
      return rate ? static_cast<double>(keys.size()) / seconds : 1e9 * seconds / static_cast<double>(calls);
    };
    const Case row{
        .name = what.name, .metric = rate ? "rate" : "latency", .unit = rate ? "keys/s" : "ns", .ranks = 2};
    const auto value = [&] { return figure(run(what, keys, what.in_flight)); };
    const auto plain = [&] { return figure(plain_run(what, keys)); };
    const char* const baseline_name = what.by_hand ? "exchange by hand" : "MPI ping-pong";
    if (what.in_flight == 1) {
      bench_.measure(row, kRuns, value, baseline_name, plain);
    } else {
      bench_.measure_with_waiting(row, kRuns, value, baseline_name, plain,
                                  [&] { return figure(run(what, keys, 1)); });
    }
  }

  void close() {
    const TableCounters total = server_.statistics().table_total(table_.id());
    server_.close();
    expect_count("remote accesses", total.remote_pulls + total.remote_pushes, expected_);
  }

 private:
  // Collective. Returns the seconds of rank 0 for all keys.
  double run(const TcpCase& what, std::span<const Key> keys, std::size_t in_flight) {
    double seconds = 0;
    expected_ += keys.size();
    server_.run_workers(1, [&](Worker& worker) {
      worker.barrier();
      if (worker.rank() == Rank(0)) seconds = access_all(worker, what, keys, in_flight);
      worker.barrier();
    });
    return seconds;
  }

  double access_all(Worker& worker, const TcpCase& what, std::span<const Key> keys, std::size_t in_flight) {
    const std::size_t call_values = what.batch * kLength;
    std::vector<float> values(in_flight * call_values, 1.0F);
    std::vector<Operation> operations(in_flight);
    const Clock::time_point begin = Clock::now();
    for (std::size_t call = 0; !keys.empty(); ++call, keys = keys.subspan(what.batch)) {
      const std::size_t slot = call % in_flight;
      Operation& operation = operations[slot];
      operation.wait();  // The oldest operation: its values are overwritten next.
      const std::span<float> own = std::span(values).subspan(slot * call_values, call_values);
      const std::span<const Key> batch = keys.first(what.batch);
      if (what.push && what.by_hand) renew_updates(own);
      operation = what.push ? worker.push(table_, batch, own) : worker.pull(table_, batch, own);
      if (in_flight == 1) operation.wait();
    }
    for (Operation& operation : operations) operation.wait();
    return seconds_between(begin, Clock::now());
  }

  // Collective. Returns the seconds of rank 0 for the baseline: the same rows, or messages with the payload
  // of the calls, with as many in flight.
  double plain_run(const TcpCase& what, std::span<const Key> keys) {
    if (what.by_hand) {
      return what.push ? plain_exchange_.push(keys, what.batch) : plain_exchange_.pull(keys, what.batch);
    }
    const MessagePair messages = what.push ? MessagePair{what.batch * (kKeyBytes + kValueBytes), kKeyBytes}
                                           : MessagePair{what.batch * kKeyBytes, what.batch * kValueBytes};
    const std::size_t calls = keys.size() / what.batch;
    if (what.in_flight == 1) return ping_pong(bench_.plain(), calls, messages);
    return overlapping_ping_pong(bench_.plain(), bench_.rank(), calls, what.in_flight, messages);
  }

  Bench& bench_;
  ParameterServer server_;
  Table<float> table_;
  PlainExchange plain_exchange_;
  std::uint64_t expected_ = 0;
};

}  // namespace

void measure_tcp_access(Bench& bench) {
  TcpAccess access(bench);
  for (const TcpCase& what : kCases) {
    if (bench.selected(what.name)) access.measure(what);
  }
  access.close();
}

}  // namespace lapse::bench

// Compares the cost of a bulk payload by remote memory access and by messages, between two ranks.
//
//   case                  metric     what is measured                        baseline
//   message S             latency    a packet of S bytes by the transport,   MPI messages: S bytes there,
//                                    an answer of 8 bytes back               8 bytes back
//   window S              latency    the same by an RMA receive ring         the same
//   message stream S      bandwidth  eight such packets in flight at once    the same, eight at once
//   window stream S       bandwidth  the same by RMA receive rings           the same
//   owner lookup          latency    8 bytes by MPI_Get and a flush          half a ping-pong of 24 bytes:
//                                                                            the hop that a known owner saves
//   first pull            latency    3 ranks: a call that waits for one key  the same by the home (rma=off)
//                                    of unknown owner, after a lookup
//   first pull computing  latency    the same, while the home's worker       the same
//                                    computes
//   first pull batch 8    latency    the same as first pull, 8 keys in a     the same
//                                    call
//
// S is 1 KB, 4 KB, 16 KB, 64 KB, 256 KB, 1 MB, 4 MB. 2 ranks; 10 runs of at most 16 MB each way. First pulls:
// values of 25 floats; requester, owner and home are three ranks; 10 runs of 1,000, 200, 50 calls. If the
// ranks are on different hosts, names begin with "tcp ", whatever the network.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/first_access.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/hosts.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/transport.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 10;
constexpr std::size_t kAnswerBytes = 8;
constexpr std::size_t kHopBytes = 24;
constexpr std::size_t kInFlight = 8;
constexpr std::size_t kRingBytes = std::size_t{64} << 20;  // space for all payloads in flight

struct Size {
  const char* name;
  std::size_t bytes;
};
constexpr Size kSizes[] = {{"1 KB", 1 << 10},   {"4 KB", 1 << 12}, {"16 KB", 1 << 14}, {"64 KB", 1 << 16},
                           {"256 KB", 1 << 18}, {"1 MB", 1 << 20}, {"4 MB", 1 << 22}};

std::size_t rounds_of(const Bench& bench, std::size_t bytes) {
  constexpr std::size_t kBytesOfRun = std::size_t{16} << 20;
  return bench.size(std::clamp<std::size_t>(kBytesOfRun / bytes, kInFlight, 400) / kInFlight * kInFlight,
                    kInFlight);
}

void send(Transport& transport, Rank to, std::size_t bytes, Transport::Lane lane) {
  PacketBuffer packet = transport.acquire_buffer();
  packet.extend(bytes);
  transport.send(to, std::move(packet), lane);
}

// Collective over two ranks. Rank 0 sends `rounds` packets of the bulk lane to rank 1, which answers each;
// at most `in_flight` packets are unanswered. Returns the seconds on rank 0, 0 on rank 1.
double exchange(MPI_Comm communicator, Transport& transport, std::size_t rounds, std::size_t bytes,
                std::size_t in_flight) {
  const bool asks = transport.rank() == Rank(0);
  const Rank other(asks ? 1 : 0);
  std::size_t handled = 0;
  const Transport::Handler handler = [&](Rank from, std::span<const std::byte>) {
    ++handled;
    if (!asks) send(transport, from, kAnswerBytes, Transport::Lane::ordered);
  };
  MPI_Barrier(communicator);
  const Clock::time_point begin = Clock::now();
  for (std::size_t sent = 0; handled < rounds || !transport.idle();) {
    for (; asks && sent < rounds && sent - handled < in_flight; ++sent)
      send(transport, other, bytes, Transport::Lane::bulk);
    transport.poll(handler, 1);
  }
  const double seconds = seconds_between(begin, Clock::now());
  MPI_Barrier(communicator);
  return asks ? seconds : 0;
}

class OneSided {
 public:
  explicit OneSided(Bench& bench) : bench_(bench), where_(on_different_hosts(bench.plain()) ? "tcp " : "") {}

  // Prints what rma=auto would choose on these hosts.
  void print_choice() const {
    MpiTransport automatic(MPI_COMM_WORLD);
    if (bench_.rank() == 0)
      fmt::print(stderr, "rma=auto: {}\n", automatic.rma_receive_rings()->report().text);
    automatic.close();
  }

  void measure_transports() {
    MpiTransport messages(MPI_COMM_WORLD, {.rma = RmaChoice::off});
    MpiTransport windows(MPI_COMM_WORLD,
                         {.rma = RmaChoice::on, .rma_ring_bytes = kRingBytes, .rma_smallest_bytes = 1});
    if (windows.rma_receive_rings()->report().problem)
      throw MpiStateError(windows.rma_receive_rings()->report().text);
    for (const Size& size : kSizes) {
      measure(where_ + "message " + size.name, messages, size.bytes, 1);
      measure(where_ + "window " + size.name, windows, size.bytes, 1);
      measure(where_ + "message stream " + size.name, messages, size.bytes, kInFlight);
      measure(where_ + "window stream " + size.name, windows, size.bytes, kInFlight);
    }
    messages.close();
    windows.close();
  }

  void measure_lookup() {
    const std::string name = where_ + "owner lookup";
    if (!bench_.selected(name)) return;
    const std::size_t rounds = bench_.size(2000, 10);
    const auto latency = [&](double seconds) { return 1e6 * seconds / static_cast<double>(rounds); };
    void* memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, bench_.plain(), &memory, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    bench_.measure(
        {.name = name, .metric = "latency", .unit = "us", .ranks = 2}, kRuns,
        [&] { return latency(read_words(window, rounds)); }, "hop of a message",
        [&] {
          return latency(ping_pong(bench_.plain(), rounds, {kHopBytes, kHopBytes})) / 2;
        });
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }

 private:
  void measure(const std::string& name, Transport& transport, std::size_t bytes, std::size_t in_flight) {
    if (!bench_.selected(name)) return;
    const std::size_t rounds = rounds_of(bench_, bytes);
    const bool stream = in_flight > 1;
    const auto figure = [&](double seconds) {
      const auto count = static_cast<double>(rounds);
      return stream ? static_cast<double>(bytes) * count / seconds : 1e6 * seconds / count;
    };
    bench_.measure(
        {.name = name, .metric = stream ? "bandwidth" : "latency", .unit = stream ? "B/s" : "us", .ranks = 2},
        kRuns, [&] { return figure(exchange(bench_.plain(), transport, rounds, bytes, in_flight)); },
        "MPI messages",
        [&] {
          return figure(plain(rounds, {bytes, kAnswerBytes}, stream));
        });
  }

  double plain(std::size_t rounds, const MessagePair& messages, bool stream) const {
    if (!stream) return ping_pong(bench_.plain(), rounds, messages);
    double seconds = 0;
    for (std::size_t done = 0; done < rounds; done += kInFlight)
      seconds += pipelined_ping_pong(bench_.plain(), kInFlight, messages);
    return seconds;
  }

  // Collective. Rank 0 reads words of rank 1, which drives MPI while it waits in a barrier.
  double read_words(MPI_Win window, std::size_t rounds) const {
    MPI_Barrier(bench_.plain());
    const Clock::time_point begin = Clock::now();
    for (std::size_t round = 0; bench_.rank() == 0 && round < rounds; ++round) {
      std::uint64_t word = 0;
      MPI_Get(&word, sizeof word, MPI_BYTE, 1, 0, sizeof word, MPI_BYTE, window);
      MPI_Win_flush(1, window);
    }
    const double seconds = seconds_between(begin, Clock::now());
    MPI_Barrier(bench_.plain());
    return seconds;
  }

  Bench& bench_;
  const std::string where_;
};

void measure_one_sided(Bench& bench) {
  if (bench.ranks() == 3) {
    measure_first_access(bench);
    return;
  }
  OneSided one_sided(bench);
  one_sided.print_choice();
  one_sided.measure_lookup();
  one_sided.measure_transports();
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Remote memory access and messages", &measure_one_sided);
}

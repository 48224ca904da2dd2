// Calls slightly above each size at which the library changes its method, and above what it can count.
#include <mpi.h>
#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/protocol/worker/operation_state.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::thrown_text;

namespace {

// The given number of keys, all 0, in addresses without memory: only keys that are read need memory.
class ManyKeys {
 public:
  explicit ManyKeys(std::size_t count) : count_(count) {
    memory_ = mmap(nullptr, bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    expect(memory_ != MAP_FAILED, "addresses");
  }
  ~ManyKeys() { munmap(memory_, bytes()); }
  ManyKeys(const ManyKeys&) = delete;
  ManyKeys& operator=(const ManyKeys&) = delete;

  std::span<const Key> keys() const { return {static_cast<const Key*>(memory_), count_}; }

 private:
  std::size_t bytes() const { return count_ * sizeof(Key); }

  std::size_t count_;
  void* memory_;
};

}  // namespace

TEST_CASE("Calls on more keys than can be counted are refused before anything is applied") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.name = "counted", .keys = 10});
  server.run_workers(1, [&](Worker& worker) {
    const ManyKeys many(std::size_t{limits::kKeysOfCall} + 1);
    std::vector<std::int64_t> row(1, 5);
    const std::vector<std::function<void()>> calls{
        [&] { worker.pull(table, many.keys(), row).wait(); },
        [&] { worker.push(table, many.keys(), row); },
        [&] { worker.set(table, many.keys(), row); },
        [&] { worker.localize(table, many.keys()); },
        [&] { static_cast<void>(worker.lease(table, many.keys())); },
    };
    for (const auto& call : calls) {
      const std::string text = thrown_text<UsageError>(call);
      expect(contains(text, "'counted' with 536870912 keys on rank " + std::to_string(worker.rank().value()) +
                                ": at most 536870911"),
             "a message with table, number, rank and limit: " + text);
    }
    worker.barrier();
    worker.pull(table, Key(0), row).wait();
    expect(row[0] == 0, "nothing was applied");
  });
}

TEST_CASE("Calls just above each size of pieces, packets and pools have the right values") {
  // Pieces of 256 keys, items from 512 on, packets of 60 KiB, 4 MiB in one turn of the engine.
  constexpr std::uint64_t kSizes[] = {255, 256, 257, 511, 513, 8193, (std::uint64_t{1} << 20) + 1};
  ParameterServer server(MPI_COMM_WORLD);
  const std::uint64_t most = kSizes[std::size(kSizes) - 1];
  const auto table = server.create_table<std::int32_t>({.name = "numbers", .keys = most});
  // Larger than packets, rings between ranks of a host (512 KiB) and fragments of announced packets (1 MiB).
  const auto wide =
      server.create_table<std::int32_t>({.name = "wide", .keys = 6, .length = (std::size_t{1} << 18) + 1});
  server.run_workers(1, [&](Worker& worker) {
    const auto workers = static_cast<std::int32_t>(worker.count());
    std::int32_t pushed = 0;
    for (const std::uint64_t size : kSizes) {
      const std::vector<Key> keys = key_range(most - size, most);
      std::vector<std::int32_t> values(size, 1);
      worker.push(table, keys, values);
      ++pushed;
      worker.barrier();
      worker.pull(table, keys, values).wait();
      expect(values.front() == workers, "the first key's pushes, which are its only ones");
      expect(values.back() == pushed * workers, "the last key's pushes");
      worker.barrier();
    }
    const std::vector<Key> keys = key_range(0, 6);
    std::vector<std::int32_t> values(6 * wide.length(), 1);
    worker.push(wide, keys, values);
    worker.barrier();
    worker.pull(wide, keys, values).wait();
    expect(values == std::vector<std::int32_t>(values.size(), workers), "wide values");
  });
}

TEST_CASE("A pull whose items are freed at its end, beside one that a lease holds up") {
  // This many items exceed what operations keep for reuse.
  constexpr std::uint64_t kKeys = 600'000;
  static_assert(kKeys * sizeof(OperationState::Item) > WorkerEndpoint::kKeptBytes);
  ParameterServer server(MPI_COMM_WORLD);
  const auto ranks = static_cast<std::uint64_t>(server.ranks());
  const auto table =
      server.create_table<std::int32_t>({.name = "many", .keys = ranks * kKeys, .home = HomeMapKind::range});
  const auto over =
      server.create_table<std::int32_t>({.name = "over", .keys = ranks, .home = HomeMapKind::range});
  server.run_workers(1, [&](Worker& worker) {
    const auto rank = static_cast<std::uint64_t>(worker.rank().value());
    worker.barrier();
    if (rank != 0) {
      const Key first(rank * kKeys);
      const Lease lease = worker.lease(table, {&first, 1});
      // Until the first rank has pulled all other keys.
      std::vector<std::int32_t> has_ended(1);
      while (worker.pull_if_local(over, Key(rank), has_ended) && has_ended[0] == 0) std::this_thread::yield();
      return;
    }
    const std::uint64_t theirs = (ranks - 1) * kKeys;
    std::vector<std::int32_t> held(1);
    std::vector<std::int32_t> again(1);
    const Key first(theirs);
    Operation beside = worker.pull(table, {&first, 1}, held);
    for (int round = 0; round < 2; ++round) {
      std::vector<std::int32_t> values(kKeys - 1, 1);
      worker.pull(table, key_range(theirs + 1, theirs + kKeys), values).wait();
      expect(values == std::vector<std::int32_t>(kKeys - 1, 0), "all values");
      // Its item is searched among those of the previous pull.
      worker.pull(table, Key(theirs + 1), again).wait();
    }
    worker.push(over, key_range(0, ranks), std::vector<std::int32_t>(ranks, 1)).wait();
    beside.wait();
  });
}

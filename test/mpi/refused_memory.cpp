// Calls on many keys, with memory refused at any one of their allocations.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/request_bag.hpp"
#include "lapse/transport/mpi/transport.hpp"
#include "test/mpi/refused_memory.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::allocations_left;
using lapse::test::contains;
using lapse::test::count_local;
using lapse::test::expect;
using lapse::test::GrantedTransport;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 3000;
using Values = std::vector<std::int64_t>;

// Repeats the call with its first allocation refused, then with the second, and so on until it succeeds.
// Returns how many were refused. Every call that is refused memory must throw OutOfMemory.
std::size_t refuse_each_allocation(Worker& worker, const std::function<Operation()>& call) {
  constexpr std::size_t kMaxAllocations = 300;
  // Handles are kept, so that every call needs an operation whose memory has not been allocated yet.
  std::vector<Operation> calls;
  calls.reserve(kMaxAllocations);
  std::size_t refused = 0;
  const auto count_failure = [&](const OutOfMemory& error) {
    expect(contains(error.what(), "table 'many'"), error.what());
    ++refused;
  };
  for (bool was_refused = true; was_refused;) {
    expect(calls.size() < kMaxAllocations, "a call asks for memory a few times");
    try {
      allocations_left = calls.size() + 1;
      calls.push_back(call());
    } catch (const OutOfMemory& error) {
      calls.emplace_back();
      count_failure(error);
    }
    was_refused = std::exchange(allocations_left, 0) == 0;
    worker.wait_all();
  }
  const std::size_t expected = calls.size() - 1;
  calls.back().wait();
  for (calls.pop_back(); !calls.empty(); calls.pop_back()) {
    try {
      calls.back().wait();
    } catch (const OutOfMemory& error) {
      count_failure(error);
    }
  }
  expect(refused == expected, "every call for which memory was refused has failed");
  return refused;
}

}  // namespace

TEST_CASE("Without memory for a request of MPI, none is begun; those before it are kept") {
  const MpiGuard guard(MpiLock::of_process());
  MpiRequestBag<std::string> requests;
  std::vector<std::uint64_t> sent(100);
  std::vector<std::uint64_t> received(sent.size());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    for (bool begun = false; !begun;) {
      // The first allocation of each attempt fails until the call needs none.
      const std::string number = "a number that needs memory of its own: " + std::to_string(i);
      std::string tag = number;
      allocations_left = refused % 2 + 1;
      try {
        requests.start(std::move(tag), [&] {
          allocations_left = 0;
          begun = true;
          MPI_Request request = MPI_REQUEST_NULL;
          MPI_Irecv(&received[i], 1, MPI_UINT64_T, 0, static_cast<int>(i), MPI_COMM_SELF, &request);
          return request;
        });
      } catch (const std::bad_alloc&) {
        ++refused;
        REQUIRE_FALSE(begun);
      }
      allocations_left = 0;
      REQUIRE(requests.size() == i + (begun ? 1 : 0));
    }
  }
  CHECK(refused > 0);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i] = i + 1;
    MPI_Send(&sent[i], 1, MPI_UINT64_T, 0, static_cast<int>(i), MPI_COMM_SELF);
  }
  std::vector<std::string> tags;
  while (!requests.empty())
    requests.test([&](std::string tag, const MPI_Status&) { tags.push_back(std::move(tag)); });
  CHECK(tags.size() == sent.size());
  CHECK(received == sent);
}

TEST_CASE("A call for which memory is refused fails alone, whatever the memory was asked for") {
  const bool sparse = GENERATE(false, true);
  const bool pushes = GENERATE(false, true);
  INFO("sparse " << sparse << " pushes " << pushes);
  MpiTransport transport(MPI_COMM_WORLD);
  ParameterServer server(std::make_unique<GrantedTransport>(transport), Options::from_environment());
  TableOptions options{.name = "many", .keys = kKeys, .length = 4};
  if (sparse) options = {.name = "many", .sparse = true, .length = 4};
  const auto table = server.create_table<std::int64_t>(options);
  const auto over = server.create_table<std::int64_t>({.name = "over", .keys = 1, .length = 1});
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys = key_range(0, kKeys);
    Values values(4 * kKeys, 1);
    const Values nothing(4 * kKeys, 0);
    if (server.rank() != Rank(0)) {
      for (std::int64_t is_over = 0; is_over == 0;) {
        worker.push(table, keys, nothing);
        worker.pull(table, keys, values).wait();
        worker.pull(over, Key(0), std::span(&is_over, 1)).wait();
      }
      return;
    }
    // They stay in use; from now on there are buffers for packets.
    const Operation pushed = worker.push(table, keys, values);
    const Operation pulled = worker.pull(table, keys, values);
    worker.wait_all();
    const std::size_t refused = refuse_each_allocation(worker, [&] {
      return pushes ? worker.push(table, keys, nothing) : worker.pull(table, keys, values);
    });
    const bool all_local = count_local(worker, table) == static_cast<std::int64_t>(kKeys);
    expect(all_local || refused > 2, "memory is asked for");
    worker.pull(table, keys, values).wait();
    for (const std::int64_t value : values) expect(value == 1, "value");
    worker.push(over, Key(0), std::vector<std::int64_t>{1});
  });
  server.close();
}

TEST_CASE("A failure is reported to every rank where there is no memory at all") {
  // Memory is available again when the report is sent.
  class Recovering final : public lapse::test::BorrowedTransport {
   public:
    explicit Recovering(Transport& transport) : BorrowedTransport(transport) {}
    void send(Rank to, PacketBuffer packet, Lane lane) override {
      lapse::test::all_refused = false;
      BorrowedTransport::send(to, std::move(packet), lane);
    }
  };
  MpiTransport transport(MPI_COMM_WORLD);
  Options options = Options::from_environment();
  options.log_level = LogLevel::error;
  ParameterServer server(std::make_unique<Recovering>(transport), options);
  const auto fail = [&](Worker& worker) {
    if (worker.rank() != Rank(0)) return;
    lapse::test::all_refused = true;
    throw std::bad_alloc();
  };
  const std::string text = lapse::test::thrown_text<PeerFailed>([&] { server.run_here(fail); });
  lapse::test::all_refused = false;
  CHECK(text == "rank 0 failed: out of memory (std::bad_alloc)");
  server.close();
}

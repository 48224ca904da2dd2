// Windows that fail because of one rank: all ranks send messages instead, all report the reason, and one rank
// prints it. The MPI functions at the end of this file replace those of the library, which it also exports
// under names with the prefix PMPI.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/transport.hpp"
#include "test/support/catch.hpp"
#include "test/unit/transport_traffic.hpp"

using namespace lapse;
using Catch::Matchers::Contains;

namespace {

enum class Fault {
  none,
  window_refused,
  put_refused,
  put_wrong,       // different bytes arrive
  put_lost,        // no bytes arrive, but a get fetches them
  put_unfinished,  // a request that never completes
  get_refused,
  flush_refused,
  sync_refused,
};

// How the MPI functions of this rank fail. A global, because the functions have no other input.
Fault fault = Fault::none;
std::vector<std::byte> put_bytes;  // the last ones
std::optional<MPI_Request> unfinished;

struct Case {
  Fault fault;
  std::string reason;
};
const std::vector<Case> kCases = {
    {Fault::window_refused, "MPI_Win_allocate"},
    {Fault::put_refused, "MPI_Rput"},
    {Fault::put_wrong, "were not there after 300 ms"},
    {Fault::put_lost, "does not see what rank"},
    {Fault::put_unfinished, "took longer than 300 ms"},
    {Fault::get_refused, "MPI_Rget"},
    {Fault::flush_refused, "MPI_Win_flush"},
    {Fault::sync_refused, "MPI_Win_sync"},
};

// While it lives, one rank has the fault.
class FaultOn {
 public:
  FaultOn(std::int32_t rank, Fault on_it) {
    int self = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    if (self == rank) fault = on_it;
  }
  ~FaultOn() {
    fault = Fault::none;
    if (unfinished) {
      MPI_Grequest_complete(*unfinished);
      MPI_Wait(&*unfinished, MPI_STATUS_IGNORE);
      unfinished.reset();
    }
  }
  FaultOn(const FaultOn&) = delete;
  FaultOn& operator=(const FaultOn&) = delete;
};

// Captures what a piece of code writes to standard error.
template <class F>
std::string written_errors(F&& f) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stderr);
  const int before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  ::close(before);
  std::fseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

std::int32_t world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace

TEST_CASE("RMA receive ring faults: without a fault there are windows") {
  MpiTransport transport(MPI_COMM_WORLD, {.rma = RmaChoice::on});
  INFO(transport.rma_receive_rings()->report().text);
  CHECK_FALSE(transport.rma_receive_rings()->report().problem);
  CHECK(transport.has_separate_bulk_lane());
  transport.close();
}

TEST_CASE(
    "RMA receive ring faults: whichever call fails on whichever rank, all send messages for one reason") {
  for (const Case& what : kCases) {
    for (std::int32_t rank = 0; rank < world_size(); ++rank) {
      const FaultOn fault_on(rank, what.fault);
      MpiTransport transport(MPI_COMM_WORLD,
                             {.rma = RmaChoice::on, .rma_test_limit = std::chrono::milliseconds(300)});
      const RmaReceiveRings::Report report = transport.rma_receive_rings()->report();
      INFO("fault " << static_cast<int>(what.fault) << " on rank " << rank << ": " << report.text);
      CHECK(report.problem);
      CHECK_THAT(report.text, Contains("bulk payloads go by message") && Contains(what.reason) &&
                                  Contains("rma=off") && !Contains("\n"));
      CHECK_FALSE(transport.has_separate_bulk_lane());
      const auto texts = transport.all_gather(std::as_bytes(std::span(report.text)));
      CHECK(std::ranges::all_of(texts, [&](const auto& text) { return text == texts[0]; }));
      test::Traffic(transport, {1, 1000, 100'000}, 20, 1).run();
      CHECK(transport.rma_receive_rings()->received_packets() == 0);
      transport.close();
    }
  }
}

TEST_CASE("RMA receive ring faults: a server works, and one rank reports the fault in one line") {
  Options options;
  options.rma = RmaChoice::on;
  const FaultOn fault_on(1, Fault::get_refused);
  Rank self;
  const std::string text = written_errors([&] {
    ParameterServer server(MPI_COMM_WORLD, options);
    self = server.rank();
    const auto table = server.create_table<float>({.keys = 100, .length = 1000});
    server.run_workers(1, [&](Worker& worker) {
      const std::vector<float> ones(table.length(), 1);
      for (std::uint64_t key = 0; key < table.keys(); ++key) worker.push(table, Key(key), ones);
      worker.barrier();
      std::vector<float> values(table.length());
      for (std::uint64_t key = 0; key < table.keys(); ++key) {
        worker.pull(table, Key(key), values).wait();
        if (values.back() != static_cast<float>(worker.count())) throw std::runtime_error("a wrong value");
      }
    });
    server.close();
  });
  INFO(text);
  const std::size_t begin = text.find("bulk payloads go by message");
  REQUIRE((begin != std::string::npos) == (self == Rank(0)));
  if (self != Rank(0)) return;
  CHECK(text.find("bulk payloads", begin + 1) == std::string::npos);
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  CHECK_THAT(line, Contains("on rank 1: MPI_Rget") && Contains("rma=off"));
}

extern "C" {

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm communicator, void* base,
                     MPI_Win* window) {
  const int code = PMPI_Win_allocate(size, unit, info, communicator, base, window);
  return fault == Fault::window_refused ? MPI_ERR_NO_MEM : code;
}

int MPI_Rput(const void* origin, int count, MPI_Datatype type, int target, MPI_Aint displacement,
             int target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  if (fault == Fault::put_refused) return MPI_ERR_OTHER;
  const auto* const bytes = static_cast<const std::byte*>(origin);
  put_bytes.assign(bytes, bytes + count);
  if (fault == Fault::put_lost) count = target_count = 0;
  if (fault == Fault::put_wrong) {
    put_bytes.back() ^= std::byte{1};
    origin = put_bytes.data();
  }
  if (fault == Fault::put_unfinished) {
    const auto query = [](void*, MPI_Status* status) { return MPI_Status_set_elements(status, MPI_BYTE, 0); };
    const auto free = [](void*) { return MPI_SUCCESS; };
    const auto cancel = [](void*, int) { return MPI_SUCCESS; };
    unfinished.emplace();
    const int code = MPI_Grequest_start(query, free, cancel, nullptr, &*unfinished);
    *request = *unfinished;
    return code;
  }
  return PMPI_Rput(origin, count, type, target, displacement, target_count, target_type, window, request);
}

int MPI_Rget(void* origin, int count, MPI_Datatype type, int target, MPI_Aint displacement, int target_count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  if (fault == Fault::get_refused) return MPI_ERR_OTHER;
  if (fault == Fault::put_lost) {
    std::memcpy(origin, put_bytes.data(), put_bytes.size());
    count = target_count = 0;
  }
  return PMPI_Rget(origin, count, type, target, displacement, target_count, target_type, window, request);
}

int MPI_Win_flush(int rank, MPI_Win window) {
  return fault == Fault::flush_refused ? MPI_ERR_OTHER : PMPI_Win_flush(rank, window);
}

int MPI_Win_sync(MPI_Win window) {
  return fault == Fault::sync_refused ? MPI_ERR_OTHER : PMPI_Win_sync(window);
}

}  // extern "C"

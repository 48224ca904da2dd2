// Workers that make different collective calls.
#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::thrown_text;

TEST_CASE("Workers that make different collective calls fail, on one rank or between ranks") {
  for (const bool within_rank : {true, false}) {
    ParameterServer server(MPI_COMM_WORLD);
    if (!within_rank && server.ranks() == 1) continue;  // There is no other rank to differ from.
    const std::string text = thrown_text<PeerFailed>([&] {
      server.run_workers(2, [&](Worker& worker) {
        std::vector<double> values(2);
        const bool reduces =
            within_rank ? worker.local_index() == 1 : worker.rank().value() + 1 == worker.ranks();
        if (reduces) {
          worker.all_reduce(std::span<double>(values));
        } else {
          worker.barrier();
        }
      });
    });
    INFO(text);
    CHECK(contains(text, "different collective calls"));
    CHECK(contains(text, "barrier"));
    CHECK(contains(text, "all_reduce sum of 2 doubles"));
    server.close();
  }
}

TEST_CASE("A sync_barrier fails where workers make another call, return or throw") {
  struct Deviation {
    std::function<void(Worker&)> of_one;
    std::vector<std::string> texts;
  };
  const std::vector<Deviation> deviations{
      {[](Worker& worker) { worker.barrier(); }, {"different collective calls", "sync_barrier", ": barrier"}},
      {[](Worker&) {}, {"has returned from its function"}},
      {[](Worker&) { throw std::runtime_error("one worker gives up"); }, {"one worker gives up"}}};
  for (const Deviation& deviation : deviations) {
    // With two or more ranks, the second rank has no workers.
    ParameterServer server(MPI_COMM_WORLD);
    const std::string text = thrown_text<PeerFailed>([&] {
      server.run_workers(server.rank() == Rank(1) ? 0 : 2, [&](Worker& worker) {
        worker.sync_barrier();
        worker.sync_barrier();
        if (worker.index() + 1 == worker.count()) {
          deviation.of_one(worker);
        } else {
          worker.sync_barrier();
        }
      });
    });
    INFO(text);
    for (const std::string& expected : deviation.texts) CHECK(contains(text, expected));
    server.close();
  }
}

TEST_CASE("Reductions that differ fail with what each worker wanted") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(2, [](Worker& worker) {
      std::vector<double> values(3);
      worker.all_reduce(std::span<double>(values), worker.index() == 1 ? Reduce::max : Reduce::sum);
    });
  });
  INFO(text);
  CHECK(contains(text,
                 "worker 0 on rank 0: all_reduce sum of 3 doubles; worker 1 on rank 0: all_reduce max of 3"));
}

TEST_CASE("Lengths of collective calls that differ fail") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(2, [&](Worker& worker) {
      std::vector<double> values(2 + worker.local_index());
      worker.all_reduce(std::span<double>(values));
    });
  });
  CHECK(contains(text, "all_reduce sum of 3 doubles"));
}

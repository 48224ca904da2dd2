// Steps of a checkpoint, which either all ranks complete or none.
#include <mpi.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/support/catch.hpp"
#include "test/support/standard_error.hpp"

using namespace lapse;

TEST_CASE("while a step takes long on one rank, all of them know that they live") {
  ParameterServer server(MPI_COMM_WORLD);
  const Rank slow(server.ranks() - 1);
  CheckpointAgreement agreement(server, "a slow step");
  const auto begin = server.last_work();
  int meetings = 0;
  const std::vector<std::int32_t> all = agreement.exchange([&] {
    // Ends only if ranks meet while it runs.
    if (server.rank() == slow) {
      for (auto last = begin; meetings < 2; ++meetings) {
        while (server.last_work() == last) std::this_thread::yield();
        last = server.last_work();
      }
    }
    return server.rank().value();
  });
  CHECK(meetings == (server.rank() == slow ? 2 : 0));
  CHECK(server.last_work() > begin);
  for (std::int32_t rank = 0; rank < server.ranks(); ++rank)
    CHECK(all[static_cast<std::size_t>(rank)] == rank);
  server.close();
}

TEST_CASE("a slow step that fails on one rank fails on all") {
  ParameterServer server(MPI_COMM_WORLD);
  const Rank slow(server.ranks() - 1);
  CheckpointAgreement agreement(server, "a slow step");
  const auto begin = server.last_work();
  const auto step = [&] {
    if (server.rank() != slow) return;
    while (server.last_work() == begin) std::this_thread::yield();
    throw CheckpointError(CheckpointError::Reason::damaged, "some file", "some problem");
  };
  try {
    agreement.run(step);
    FAIL("the step has not failed");
  } catch (const CheckpointError& error) {
    CHECK(error.reason() == CheckpointError::Reason::damaged);
    CHECK(error.file() == "some file");
    CHECK(error.problem() == "some problem (on rank " + std::to_string(slow.value()) + ")");
  }
  // The server continues.
  CHECK(agreement.exchange([] { return 1; }).size() == static_cast<std::size_t>(server.ranks()));
  server.close();
}

TEST_CASE("a rank whose step takes too long is reported by the others") {
  Options options = Options::from_environment();
  options.stall_report = std::chrono::seconds(1);
  options.startup_report = false;
  ParameterServer server(MPI_COMM_WORLD, options);
  const Rank slow(server.ranks() - 1);
  lapse::test::StandardError standard_error;
  CheckpointAgreement(server, "a slow step").run([&] {
    auto last = server.last_work();
    for (int meetings = 0; server.rank() == slow && meetings < 3; ++meetings) {
      while (server.last_work() == last) std::this_thread::yield();
      last = server.last_work();
    }
  });
  if (server.rank() != slow) {
    const std::string text = standard_error.read_until("s in a slow step; has not come:\n");
    CHECK(text.find("rank " + std::to_string(server.rank().value()) + " has waited for") !=
          std::string::npos);
  }
  server.close();
}

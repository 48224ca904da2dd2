// Steps of a checkpoint, which either all ranks complete or none.
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

TEST_CASE("a step that fails on one rank fails on all") {
  ParameterServer server(MPI_COMM_WORLD);
  const Rank last(server.ranks() - 1);
  CheckpointAgreement agreement(server, "a step");
  const auto step = [&] {
    if (server.rank() == last)
      throw CheckpointError(CheckpointError::Reason::damaged, "some file", "some problem");
  };
  try {
    agreement.run(step);
    FAIL("the step has not failed");
  } catch (const CheckpointError& error) {
    CHECK(error.reason() == CheckpointError::Reason::damaged);
    CHECK(error.file() == "some file");
    CHECK(error.problem() == "some problem (on rank " + std::to_string(last.value()) + ")");
  }
  // The server continues.
  const std::vector<std::int32_t> all = agreement.exchange([&] { return server.rank().value(); });
  CHECK(all.size() == static_cast<std::size_t>(server.ranks()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) CHECK(all[rank] == static_cast<std::int32_t>(rank));
  server.close();
}

// A wait that takes too long is reported, also by a worker that handles messages meanwhile.
#include <mpi.h>

#include <string>

#include "lapse/core/error.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/standard_error.hpp"

using namespace lapse;
using lapse::test::expect;

TEST_CASE("A stalled wait is reported by a worker that helps with the requests of other ranks meanwhile") {
  for (const Helping helping : {Helping::on, Helping::off}) {
    Options options = lapse::test::ranks_alone();  // Rank 0 must be asked by message.
    options.stall_report = std::chrono::seconds(1);
    options.helping = helping;
    options.startup_report = false;
    ParameterServer server(MPI_COMM_WORLD, options);
    const auto reported = server.create_table<std::int64_t>({.keys = 1, .home = HomeMapKind::range});
    lapse::test::StandardError standard_error;
    server.run_workers(2, [&](Worker& worker) {
      const std::vector<std::int64_t> one{1};
      if (worker.index() == 1) {
        const std::string text =
            standard_error.read_until("has not arrived: it runs code of the application");
        expect(text.find("worker 0 on rank 0 has waited for 1 s for the other workers at a barrier") !=
                   std::string::npos,
               "who waits for what in: " + text);
        expect(text.find("worker 1 on rank 0 has not arrived") != std::string::npos, "for whom in: " + text);
        worker.push(reported, Key(0), one);
      } else if (worker.rank() != Rank(0)) {
        // The requests that keep rank 0 busy until then.
        std::vector<std::int64_t> value(1);
        while (value[0] == 0) worker.pull(reported, Key(0), value).wait();
      }
      worker.barrier();
    });
    server.close();
  }
}

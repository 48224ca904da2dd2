// Clocked tables on real servers, each rank and each worker a thread of one process. Also runs under
// ThreadSanitizer.
#include <cstddef>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/support/clock_history.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using namespace lapse;
using namespace lapse::test;

TEST_CASE("threads: reads of clocked tables keep their bound") {
  constexpr std::int32_t kRanks = 3;
  constexpr std::int32_t kWorkers = 2;
  Options options;
  options.domain = {DomainChoice::Kind::rank, 1};
  options.startup_report = false;
  // Replicas come with essp only; the others write and read main copies.
  for (const Consistency consistency :
       {Consistency::cap(0), Consistency::cap(2), Consistency::ssp(1), Consistency::essp(0),
        Consistency::essp(2), Consistency::cvap(1, {.bound = 2})}) {
    INFO(consistency.to_string());
    const std::uint32_t staleness = *consistency.staleness();
    ThreadedLoopback network(kRanks, {.separate_bulk_lane = true, .delay_seed = 1 + staleness});
    std::vector<std::exception_ptr> errors(kRanks);
    std::vector<std::thread> threads;
    threads.reserve(kRanks);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          ParameterServer server(std::make_unique<BorrowedTransport>(network.endpoint(Rank(rank))), options);
          const auto table = server.create_table<std::int64_t>({.keys = ClockHistory::kKeys,
                                                                .length = std::size_t{kRanks} * kWorkers,
                                                                .consistency = consistency});
          server.run_workers(kWorkers, [&](Worker& worker) {
            ClockHistory(table, staleness, true).run(worker, worker.index() % 2 == 0);
          });
          server.close();
        } catch (...) {
          errors[static_cast<std::size_t>(rank)] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }
}

// A wait that takes too long is reported, also by a worker that is busy with helping.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "lapse/core/error.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;

namespace {

// What this process writes to its standard error, as long as the object lives.
class StandardError {
 public:
  StandardError() : before_(dup(STDERR_FILENO)) {
    if (pipe(ends_) != 0) throw std::runtime_error("no pipe");
    dup2(ends_[1], STDERR_FILENO);
  }
  ~StandardError() {
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(ends_[0]);
    close(ends_[1]);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

  // Reads until the message has come.
  std::string read_until(std::string_view text) {
    std::string all;
    while (all.find(text) == std::string::npos) {
      char characters[4096];
      const ssize_t count = read(ends_[0], characters, sizeof characters);
      if (count <= 0) throw std::runtime_error("the pipe has ended");
      all.append(characters, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int before_;
  int ends_[2] = {};
};

}  // namespace

TEST_CASE("A stalled wait is reported by a worker that helps with the requests of other ranks meanwhile") {
  for (const Helping helping : {Helping::on, Helping::off}) {
    Options options = lapse::test::ranks_alone();  // Rank 0 shall be asked by message.
    options.stall_report = std::chrono::seconds(1);
    options.helping = helping;
    options.startup_report = false;
    ParameterServer server(MPI_COMM_WORLD, options);
    const auto reported = server.create_table<std::int64_t>({.keys = 1, .home = HomeMapKind::range});
    StandardError standard_error;
    server.run_workers(2, [&](Worker& worker) {
      const std::vector<std::int64_t> one{1};
      if (worker.index() == 1) {
        const std::string text = standard_error.read_until("has not come: it runs code of the application");
        expect(text.find("worker 0 on rank 0 has waited for 1 s for the other workers at a barrier") !=
                   std::string::npos,
               "who waits for what in: " + text);
        expect(text.find("worker 1 on rank 0 has not come") != std::string::npos, "for whom in: " + text);
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

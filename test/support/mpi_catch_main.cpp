// The main function of all tests that run on several ranks.
//
// Every rank runs every test case. After each test case the ranks agree whether it failed on any rank. A rank
// that failed waits a limited time for the others, which may be blocked waiting for it, and then aborts the
// job. Rank 0 reports like Catch2 does; the other ranks buffer their report and print it only if they fail.
#define CATCH_CONFIG_RUNNER
// If a rank crashes, the signal handlers of the MPI library or of the sanitizer print the stack.
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "lapse/transport/mpi/environment.hpp"
#include "test/support/catch.hpp"

namespace {

constexpr std::chrono::seconds kPatienceAfterFailure{10};

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Collects the output of Catch2 on the ranks other than 0.
std::ostringstream& kept_report() {
  static std::ostringstream report;
  return report;
}

void print_kept_report() {
  if (world_rank() == 0) return;
  const std::string report = kept_report().str();
  kept_report().str({});
  std::fprintf(stderr, "---- rank %d ----\n%s\n", world_rank(), report.c_str());
  std::fflush(stderr);
}

// The control messages of this file must not match messages of the tests.
MPI_Comm control_communicator() {
  static const MPI_Comm communicator = [] {
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    return duplicate;
  }();
  return communicator;
}

// Collective. Returns whether some rank passes true.
bool failed_anywhere(bool failed_here) {
  const int mine = failed_here ? 1 : 0;
  int any = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX, control_communicator(), &request);
  const auto deadline = std::chrono::steady_clock::now() + kPatienceAfterFailure;
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done && failed_here && std::chrono::steady_clock::now() > deadline) {
      std::fprintf(stderr, "rank %d failed and the other ranks wait in other calls: the job is aborted\n",
                   world_rank());
      std::fflush(nullptr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!done) std::this_thread::yield();
  }
  return any != 0;
}

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
void no_colours(Catch::ConfigData& data) {
  data.defaultColourMode = Catch::ColourMode::None;
}
#else
using Listener = Catch::TestEventListenerBase;
void no_colours(Catch::ConfigData& data) {
  data.useColour = Catch::UseColour::No;
}
#endif

class AgreeAfterEachTestCase : public Listener {
 public:
  using Listener::Listener;

  void testCaseStarting(const Catch::TestCaseInfo& test_case) override { name_ = test_case.name; }

  void testCaseEnded(const Catch::TestCaseStats& statistics) override {
    const bool failed_here = statistics.totals.testCases.failed > 0;
    if (failed_here) print_kept_report();
    if (failed_anywhere(failed_here) && world_rank() == 0 && !failed_here) {
      std::cout << "'" << name_ << "' passed on rank 0 and failed on another rank" << std::endl;
    }
  }

 private:
  std::string name_;
};

int run(int count, char** arguments) {
  Catch::Session session;
  if (const int error = session.applyCommandLine(count, arguments); error != 0) return error;
  no_colours(session.configData());  // mpirun gives rank 0 a terminal even if its output goes to a file.
  session.configData().rngSeed = 1;  // The same order of test cases on all ranks.
  std::streambuf* const terminal = std::cout.rdbuf();
  if (world_rank() != 0) std::cout.rdbuf(kept_report().rdbuf());
  const int result = session.run();
  std::cout.rdbuf(terminal);
  return result;
}

}  // namespace

CATCH_REGISTER_LISTENER(AgreeAfterEachTestCase)

int main(int count, char** arguments) {
  lapse::prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    std::fprintf(stderr, "the tests need MPI_THREAD_SERIALIZED, the MPI library offers level %d\n", provided);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm control = control_communicator();
  const int result = run(count, arguments);
  const bool failed = failed_anywhere(result != 0);
  MPI_Comm_free(&control);
  MPI_Finalize();
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

// The library's threads, as listed by the operating system.
#include <mpi.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

// Whether the threads of this process with a name of the library block a signal.
std::map<std::string, bool> library_threads(int signal) {
  std::map<std::string, bool> threads;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:\t")) name = line.substr(6);
      if (line.starts_with("SigBlk:\t") && name.starts_with("lapse-"))
        threads[name] = (std::stoull(line.substr(8), nullptr, 16) >> (signal - 1) & 1U) != 0;
    }
  }
  return threads;
}

}  // namespace

TEST_CASE("Threads of the server have names, and take no signals; workers take those of their caller") {
  ParameterServer server(MPI_COMM_WORLD);
  std::map<std::string, bool> workers;
  const auto note = [&](Worker& worker) {
    worker.barrier();
    if (worker.local_index() == 0) workers = library_threads(SIGTERM);
    worker.barrier();
  };
  server.run_workers(2, note);
  CHECK(workers == std::map<std::string, bool>{{"lapse-worker0", false}, {"lapse-worker1", false}});
  server.start_progress(1);
  auto terminate = library_threads(SIGTERM);
  // A thread sets its name when it begins.
  for (; !terminate.contains("lapse-server"); std::this_thread::yield()) terminate = library_threads(SIGTERM);
  const auto fault = library_threads(SIGSEGV);
  server.attach()->barrier();
  server.stop_progress();
  CHECK(terminate.at("lapse-server"));
  CHECK_FALSE(fault.at("lapse-server"));
  server.close();
}

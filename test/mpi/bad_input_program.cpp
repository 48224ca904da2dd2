// Runs one case of bad input, named by the argument. bad_input.cmake registers each case with its expected
// end.
#include <mpi.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/case_program.hpp"

namespace {

using namespace lapse;

void initialise(int level = MPI_THREAD_SERIALIZED) {
  prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  if (provided != level) throw std::runtime_error("MPI provides another thread level");
}

void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("expected: " + what);
}

// The application does not catch the exception of run_workers, so the program ends with it on every rank.
void worker_throws() {
  initialise();
  ParameterServer server(MPI_COMM_WORLD);
  server.run_workers(2, [&](Worker& worker) {
    if (worker.rank() == Rank(1) && worker.local_index() == 1)
      throw std::runtime_error("the text of the test");
    worker.barrier();
  });
}

void key_out_of_range() {
  initialise();
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "factors", .keys = 100});
  server.run_workers(1, [&](Worker& worker) {
    std::vector<float> value(table.length());
    worker.pull(table, Key(worker.rank() == Rank(1) ? 100 : 0), value).wait();
    worker.barrier();
  });
}

// The application throws on one rank, while the other ranks wait for it in a collective call.
void unwinding() {
  initialise();
  ParameterServer server(MPI_COMM_WORLD);
  if (server.rank() == Rank(1)) throw std::runtime_error("the application's own exception");
  server.run_workers(1, [](Worker& worker) { worker.barrier(); });
}

// The destructor closes the server after PeerFailed, which every rank throws.
void unwinding_closes() {
  initialise();
  bool failed = false;
  try {
    ParameterServer server(MPI_COMM_WORLD);
    server.run_workers(1, [](Worker& worker) {
      if (worker.index() == 0) throw std::runtime_error("test");
      worker.barrier();
    });
  } catch (const PeerFailed& error) {
    failed = error.text() == "test";
  }
  expect(failed, "PeerFailed");
  MPI_Finalize();
  std::puts("every rank closed");
}

void variable() {
  initialise();
  ::setenv("LAPSE_EAGER_BYTE", "1024", 1);
  const ParameterServer server(MPI_COMM_WORLD);
}

void expect_state_error() {
  try {
    const ParameterServer server(MPI_COMM_WORLD);
  } catch (const MpiStateError& error) {
    std::puts(error.what());
    return;
  }
  throw std::runtime_error("expected: MpiStateError");
}

void before_init() {
  expect_state_error();
  initialise();
  ParameterServer(MPI_COMM_WORLD).close();
  MPI_Finalize();
}

void after_finalize() {
  initialise();
  ParameterServer(MPI_COMM_WORLD).close();
  MPI_Finalize();
  expect_state_error();
}

void thread_single() {
  initialise(MPI_THREAD_SINGLE);
  ParameterServer server(MPI_COMM_WORLD);
  try {
    server.run_workers(1, [](Worker&) {});
  } catch (const MpiStateError& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  server.close();
  MPI_Finalize();
}

std::size_t address_space_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t pages = 0;
  in >> pages;
  return pages * 4096;
}

// Only one rank has too little address space for a table.
void address_space() {
  initialise();
  {
    ParameterServer server(MPI_COMM_WORLD);
    const bool limited = server.rank() == Rank(1);
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    if (limited) {
      rlimit limit = before;
      limit.rlim_cur = address_space_bytes() + (std::size_t{200} << 20);
      setrlimit(RLIMIT_AS, &limit);
    }
    const TableOptions large{.name = "large", .keys = 1000, .length = std::size_t{128} << 10};
    std::string text;
    try {
      server.create_table<float>(large);
    } catch (const OutOfMemory& error) {
      expect(limited, "OutOfMemory on the limited rank alone");
      text = error.what();
    } catch (const PeerFailed& error) {
      expect(!limited && error.origin() == Rank(1), "PeerFailed of the limited rank on the others");
      text = error.text();
    }
    expect(text.find("'large'") != std::string::npos, "the name of the table in '" + text + "'");
    if (limited) setrlimit(RLIMIT_AS, &before);
    // The server continues.
    const auto small = server.create_table<float>({.name = "small", .keys = 10});
    server.run_workers(1, [&](Worker& worker) { worker.localize(small, Key(3)); });
    server.close();
  }
  MPI_Finalize();
  std::puts("every rank got the error");
}

// Only one rank cannot start its threads.
void threads() {
  initialise();
  {
    ParameterServer server(MPI_COMM_WORLD);
    const bool limited = server.rank() == Rank(1);
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    if (limited) {
      rlimit limit = before;
      limit.rlim_cur = address_space_bytes() + (std::size_t{100} << 20);
      setrlimit(RLIMIT_AS, &limit);
    }
    bool failed = false;
    try {
      server.run_workers(limited ? 100 : 1, [](Worker& worker) { worker.barrier(); });
    } catch (const PeerFailed& error) {
      failed = error.origin() == Rank(1);
      expect(error.text().find("of 100 cannot start its thread") != std::string::npos,
             "the number of workers in '" + error.text() + "'");
    }
    expect(failed, "PeerFailed of the limited rank");
    setrlimit(RLIMIT_AS, &before);
    server.close();
  }
  MPI_Finalize();
  std::puts("every rank got the error");
}

// No rank has a worker, and the error leaves the scope of the server: every rank throws the error, and no
// rank is aborted.
void no_workers() {
  initialise();
  bool failed = false;
  try {
    ParameterServer server(MPI_COMM_WORLD);
    server.run_workers(0, [](Worker&) {});
  } catch (const lapse::UsageError&) {
    failed = true;
  }
  expect(failed, "UsageError on every rank");
  MPI_Finalize();
  std::puts("every rank got the error");
}

void run(std::string_view name) {
  if (name == "worker_throws") return worker_throws();
  if (name == "key_out_of_range") return key_out_of_range();
  if (name == "unwinding") return unwinding();
  if (name == "unwinding_closes") return unwinding_closes();
  if (name == "variable") return variable();
  if (name == "before_init") return before_init();
  if (name == "after_finalize") return after_finalize();
  if (name == "thread_single") return thread_single();
  if (name == "address_space") return address_space();
  if (name == "threads") return threads();
  if (name == "no_workers") return no_workers();
  throw std::runtime_error("unknown case");
}

}  // namespace

int main(int count, char** arguments) {
  return lapse::test::run_case(count, arguments, run);
}

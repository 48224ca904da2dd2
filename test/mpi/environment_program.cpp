// Servers in environments that the main function of the tests does not set up: variables of Slurm and of
// module files, a plain MPI_Init, and MPI after MPI_Finalize. environment_program.sh checks what the ranks
// print.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/case_program.hpp"
#include "test/mpi/server_expect.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;

void initialise() {
  prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
}

void use(ParameterServer& server) {
  const auto table = server.create_table<std::int64_t>({.keys = 10});
  server.run_workers(1, [&](Worker& worker) {
    worker.push(table, lapse::test::key_range(0, 10), std::vector<std::int64_t>(10, 1)).wait();
  });
}

bool is_rank_0() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

// The file belongs to rank 0, and its errors are reported on all ranks. To the other ranks it does not exist.
void use_file(const std::string& path) {
  setenv("LAPSE_OPTIONS_FILE", is_rank_0() ? path.c_str() : "/nothing", 1);
  ParameterServer server(MPI_COMM_WORLD);
  expect(server.options().eager_buffers == 77, "eager_buffers of the file");
  server.close();
  setenv("LAPSE_OPTIONS_FILE", is_rank_0() ? "/nothing" : path.c_str(), 1);
  try {
    const ParameterServer other(MPI_COMM_WORLD);
  } catch (const ConfigurationError& error) {
    expect(std::string(error.what()).find("/nothing") != std::string::npos, error.what());
    unsetenv("LAPSE_OPTIONS_FILE");
    return;
  }
  throw std::runtime_error("a missing file of options is no error");
}

// Servers of all ranks and of this rank only.
void servers() {
  initialise();
  if (const char* const path = std::getenv("LAPSE_OPTIONS_FILE")) use_file(path);
  for (int round = 0; round < 2; ++round) {
    ParameterServer all(MPI_COMM_WORLD);
    use(all);
    all.close();
    ParameterServer alone(MPI_COMM_SELF);
    use(alone);
    alone.close();
  }
  MPI_Finalize();
}

// The application does not ask for a thread level.
void plain_init() {
  MPI_Init(nullptr, nullptr);
  {
    ParameterServer server(MPI_COMM_WORLD);
    use(server);
    server.close();
  }
  MPI_Finalize();
}

void expect_state_error(const std::string& call, int rank, const std::function<void()>& f) {
  try {
    f();
  } catch (const MpiStateError& error) {
    const std::string text = error.what();
    expect(text.find(call + " on rank " + std::to_string(rank)) != std::string::npos, call + " in: " + text);
    expect(text.find("MPI is already finalized") != std::string::npos, "the reason in: " + text);
    return;
  }
  throw std::runtime_error("no MpiStateError of " + call);
}

// Another version of the library in this process has a lock of MPI calls with a different layout.
void refuse_other_lock() {
  int code = 0;
  MPI_Add_error_class(&code);
  MPI_Add_error_string(code, "lapse: lock of MPI calls, layout 77, at 10");
  std::string text = "no error";
  try {
    const ParameterServer server(MPI_COMM_WORLD);
  } catch (const MpiStateError& error) {
    text = error.what();
  }
  expect(text.find("(layouts 77 and 1)") != std::string::npos, "the layouts in: " + text);
  MPI_Add_error_string(code, "an error of the application");
}

// Makes every call that could reach MPI, after MPI_Finalize.
void after_finalize() {
  initialise();
  refuse_other_lock();
  auto server = std::make_unique<ParameterServer>(MPI_COMM_WORLD);
  const auto table = server->create_table<std::int64_t>({.keys = 10});
  server->run_workers(1, [&](Worker& worker) { worker.localize(table, Key(worker.index())).wait(); });
  const int rank = server->rank().value();
  MPI_Finalize();
  expect_state_error("create_table", rank, [&] { server->create_table<float>({.keys = 1}); });
  expect_state_error("register_function", rank,
                     [&] { server->register_function<float>("f", [](Key, std::span<float>) { return 1; }); });
  expect_state_error("run_workers", rank, [&] { server->run_workers(1, [](Worker&) {}); });
  expect_state_error("statistics", rank, [&] { server->statistics(); });
  expect_state_error("memory_use", rank, [&] { static_cast<void>(server->memory_use(table)); });
  expect_state_error("close", rank, [&] { server->close(); });
  expect(server->rank().value() == rank && table.keys() == 10, "what needs no MPI");
  server.reset();
}

void run(std::string_view name) {
  if (name == "servers") return servers();
  if (name == "plain_init") return plain_init();
  if (name == "after_finalize") return after_finalize();
  throw std::runtime_error("unknown case");
}

}  // namespace

int main(int count, char** arguments) {
  const int status = lapse::test::run_case(count, arguments, run);
  if (status == EXIT_SUCCESS) std::fputs("the rank ended well\n", stdout);  // one write
  return status;
}

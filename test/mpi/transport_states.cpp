// MpiTransport in every state that a process can bring MPI into. Each run makes one state, named by the
// argument.
#include <mpi.h>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/hooks.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "lapse/transport/mpi/library/eager_limits.hpp"
#include "lapse/transport/mpi/transport.hpp"

namespace {

void expect(bool condition, std::string_view what) {
  if (!condition) throw std::runtime_error(std::string(what));
}

void expect_state_error(std::string_view text) {
  try {
    lapse::MpiTransport transport(MPI_COMM_WORLD);
  } catch (const lapse::MpiStateError& error) {
    expect(std::string_view(error.what()).find(text) != std::string_view::npos, error.what());
    return;
  }
  throw std::runtime_error("no MpiStateError");
}

void initialise(int level) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  expect(provided == level, "MPI provides another thread level");
}

// Runs the function and returns its output to standard error.
template <class Function>
std::string standard_error_of(Function function) {
  std::fflush(stderr);
  std::FILE* const file = std::tmpfile();
  const int terminal = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  function();
  std::fflush(stderr);
  ::dup2(terminal, STDERR_FILENO);
  ::close(terminal);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

void before_init() {
  expect_state_error("MPI_Init_thread");
  initialise(MPI_THREAD_SERIALIZED);
  lapse::MpiTransport(MPI_COMM_WORLD).close();
  MPI_Finalize();
}

void thread_level(int level) {
  initialise(level);
  lapse::MpiTransport transport(MPI_COMM_WORLD);
  expect(transport.communicator().thread_level() == level, "thread_level");
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  MPI_Comm_get_name(transport.communicator().get(), name, &length);
  expect(std::string_view(name) == "lapse", "the name of the communicator");
  transport.close();
  const std::string text = standard_error_of([] { MPI_Finalize(); });
  expect(text.find("lapse") == std::string::npos, text);
}

void after_finalize() {
  initialise(MPI_THREAD_SERIALIZED);
  lapse::MpiTransport(MPI_COMM_WORLD).close();
  MPI_Finalize();
  expect_state_error("MPI_Finalize");
}

void open_at_finalize() {
  initialise(MPI_THREAD_SERIALIZED);
  auto first = std::make_unique<lapse::MpiTransport>(MPI_COMM_WORLD);
  auto second = std::make_unique<lapse::MpiTransport>(MPI_COMM_WORLD);
  lapse::MpiTransport(MPI_COMM_WORLD).close();
  const std::string text = standard_error_of([] { MPI_Finalize(); });
  expect(text.find("2 parameter servers or managers still open") != std::string::npos,
         "MPI_Finalize reported: " + text);
  expect(text.starts_with("lapse[") && text.find("] error: ") != std::string::npos,
         "the format of the logger: " + text);
  first.reset();
  second.reset();
}

// prepare_mpi_environment sets unset variables and keeps the user's; the automatic eager size adapts.
void eager_limit(const char* set_by_user, std::size_t expected_packet_bytes) {
  if (set_by_user != nullptr) {
    ::setenv("OMPI_MCA_btl_vader_eager_limit", set_by_user, 1);
  } else {
    ::unsetenv("OMPI_MCA_btl_vader_eager_limit");
  }
  ::unsetenv("OMPI_MCA_osc");
  lapse::prepare_mpi_environment();
  expect(std::string_view(std::getenv("OMPI_MCA_osc")) == "^rdma", "OMPI_MCA_osc");
  initialise(MPI_THREAD_SERIALIZED);
  expect(lapse::eager_message_bytes().has_value(), "the MPI library does not report its eager limit");
  lapse::MpiTransport transport(MPI_COMM_WORLD);
  expect(transport.eager_packet_bytes() == expected_packet_bytes,
         std::to_string(transport.eager_packet_bytes()));
  transport.close();
  MPI_Finalize();
}

// Without shared memory between the ranks, the network's limit applies.
void eager_limit_of_tcp(const char* limit, std::size_t expected_packet_bytes) {
  ::setenv("OMPI_MCA_pml", "ob1", 1);
  ::setenv("OMPI_MCA_btl", "tcp,self", 1);
  ::setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
  ::setenv("OMPI_MCA_btl_tcp_eager_limit", limit, 1);
  eager_limit(nullptr, expected_packet_bytes);
}

// For an unknown MPI library, no variables are set.
void no_eager_limit() {
  ::unsetenv("OMPI_MCA_osc");
  lapse::prepare_mpi_environment();
  expect(std::getenv("OMPI_MCA_osc") == nullptr, "OMPI_MCA_osc");
  initialise(MPI_THREAD_SERIALIZED);
  expect(!lapse::eager_message_bytes().has_value(), "an eager limit");
  lapse::MpiTransport transport(MPI_COMM_WORLD);
  expect(transport.eager_packet_bytes() == 4031, std::to_string(transport.eager_packet_bytes()));
  transport.close();
  MPI_Finalize();
}

void abort_job() {
  initialise(MPI_THREAD_SERIALIZED);
  lapse::MpiTransport transport(MPI_COMM_WORLD);
  lapse::set_hooks({.fatal = [](lapse::Rank, std::string_view reason) {
    std::fprintf(stderr, "hook: %s\n", std::string(reason).c_str());
  }});
  if (transport.rank() == lapse::Rank{transport.ranks() - 1}) transport.abort("the reason of the test");
  transport.close();  // The other ranks would wait here indefinitely.
}

void run(std::string_view state) {
  if (state == "before_init") return before_init();
  if (state == "thread_single") return thread_level(MPI_THREAD_SINGLE);
  if (state == "thread_funneled") return thread_level(MPI_THREAD_FUNNELED);
  if (state == "thread_multiple") return thread_level(MPI_THREAD_MULTIPLE);
  if (state == "after_finalize") return after_finalize();
  if (state == "open_at_finalize") return open_at_finalize();
  if (state == "eager_default") return eager_limit(nullptr, 16383);
  if (state == "eager_small") return eager_limit("4096", 4031);
  if (state == "eager_tcp") return eager_limit_of_tcp("65536", 16383);
  if (state == "eager_tcp_small") return eager_limit_of_tcp("4096", 4031);
  if (state == "eager_unknown") return no_eager_limit();
  if (state == "abort") return abort_job();
  throw std::runtime_error("unknown state");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view state = count == 2 ? arguments[1] : "";
  try {
    run(state);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "state '%s': %s\n", state.data(), error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

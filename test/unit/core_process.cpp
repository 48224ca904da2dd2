#include "lapse/core/process/process.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "test/support/catch.hpp"

using lapse::ProcessIdentity;
using lapse::ProcessState;
using lapse::state_in_process_status;

namespace {
std::string status_of(const std::string& name, char state) {
  return "4711 (" + name + ") " + state + " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 12345 20 21";
}
}  // namespace

TEST_CASE("The state of a process is read behind its name, whatever the name is") {
  for (const std::string& name : {std::string("program"), std::string("a) T 1 (b"), std::string(") ")}) {
    CHECK(state_in_process_status(status_of(name, 'S'), 12345) == ProcessState::runs);
    CHECK(state_in_process_status(status_of(name, 'R'), 12345) == ProcessState::runs);
    CHECK(state_in_process_status(status_of(name, 'T'), 12345) == ProcessState::stopped);
    CHECK(state_in_process_status(status_of(name, 't'), 12345) == ProcessState::stopped);
    CHECK(state_in_process_status(status_of(name, 'Z'), 12345) == ProcessState::ended);
  }
}

TEST_CASE("A process with the number of an earlier one is another process") {
  CHECK(state_in_process_status(status_of("program", 'S'), 12344) == ProcessState::ended);
  for (const char* line : {"", "4711", "4711 (name)", "4711 (name) ", "4711 (name) S 1 2"})
    CHECK(state_in_process_status(line, 12345) == ProcessState::unknown);
}

TEST_CASE("A process whose state cannot be read is not said to have ended") {
  const ProcessIdentity own = ProcessIdentity::own();
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const ProcessState state = own.state();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(state == ProcessState::unknown);
  CHECK(own.state() == ProcessState::runs);
}

TEST_CASE("The start of a process is not taken from the line of another one") {
  CHECK(lapse::start_in_own_status(status_of("program", 'R'), 4711) == 12345);
  CHECK(lapse::start_in_own_status(status_of("program", 'R'), 471) == 0);
  CHECK(lapse::start_in_own_status("", 0) == 0);
  ProcessIdentity other = ProcessIdentity::own();
  other.start = 0;
  CHECK(other.state() == ProcessState::unknown);
}

TEST_CASE("A process runs, is stopped, goes on and ends") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  ProcessIdentity identity = ProcessIdentity::own();
  CHECK(identity.state() == ProcessState::runs);
  // The child started in the same clock tick, or later.
  identity.number = child;
  for (int ticks = 0; ticks < 1000 && identity.state() == ProcessState::ended; ++ticks) ++identity.start;
  CHECK(identity.state() == ProcessState::stopped);
  kill(child, SIGCONT);
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(identity.state() == ProcessState::ended);
  identity.space = "pid:[of another container]";
  CHECK(identity.state() == ProcessState::unknown);
}

#include "lapse/core/process/library_thread.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>

#include "test/support/catch.hpp"

using lapse::start_library_thread;

namespace {

sigset_t held_here() {
  sigset_t held;
  pthread_sigmask(SIG_BLOCK, nullptr, &held);
  return held;
}

bool has(const sigset_t& signals, int signal) {
  return sigismember(&signals, signal) == 1;
}

std::atomic<bool> handled_by_caller{false};
std::atomic<pthread_t> caller;

void note_thread(int /*signal*/) {
  handled_by_caller = pthread_equal(pthread_self(), caller) != 0;
}

}  // namespace

TEST_CASE("A thread of the library has its name and takes no signals, except its own faults and profilers'") {
  const sigset_t before = held_here();
  sigset_t held{};
  std::string name;
  start_library_thread("lapse-a-long-name", [&] {
    held = held_here();
    char text[16];
    pthread_getname_np(pthread_self(), text, sizeof text);
    name = text;
  }).join();
  CHECK(name == "lapse-a-long-na");
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGHUP, SIGPIPE, SIGRTMIN})
    CHECK(has(held, signal));
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF}) CHECK_FALSE(has(held, signal));
  // The starting thread handles the signals that it handled before.
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGSEGV})
    CHECK(has(held_here(), signal) == has(before, signal));
}

TEST_CASE("A signal to the process is handled by the thread that the application made") {
  struct sigaction own {};
  struct sigaction former {};
  own.sa_handler = note_thread;
  sigaction(SIGUSR2, &own, &former);
  caller = pthread_self();
  handled_by_caller = false;
  // The system prefers the calling thread if that handles the signal.
  start_library_thread("lapse-kills", [] { ::kill(::getpid(), SIGUSR2); }).join();
  while (!handled_by_caller) std::this_thread::yield();
  sigaction(SIGUSR2, &former, nullptr);
}

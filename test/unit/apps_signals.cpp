// Signals that ask an application to stop, from its start to its end.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>

#include "apps/common/held_signals.hpp"
#include "apps/common/termination_watch.hpp"
#include "lapse/core/signal_watch.hpp"
#include "lapse/core/types.hpp"
#include "test/support/catch.hpp"

using lapse::Rank;
using lapse::SignalWatch;
using namespace lapse::apps;
using namespace std::chrono_literals;

namespace {

constexpr int kReturned = 42;
constexpr unsigned kTooLong = 60;

// How a process ends that does this: the number of a signal, or kReturned + what it returns.
int end_of(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kTooLong);
    std::signal(SIGTERM, SIG_DFL);  // The test program catches it.
    ::_exit(kReturned + work());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a signal that comes while a program starts is there when it is watched for") {
  CHECK(end_of([] { return std::raise(SIGUSR1); }) == SIGUSR1);
  CHECK(end_of([] {
          hold_signals();
          std::raise(SIGUSR1);
          const SignalWatch watch({SIGUSR1});
          const bool early = watch.received().has_value();
          release_signals();
          return !early && watch.received() == SIGUSR1 ? 1 : 0;
        }) == kReturned + 1);
  // Without a watch it has its effect.
  CHECK(end_of([] {
          hold_signals();
          std::raise(SIGUSR1);
          release_signals();
          return 0;
        }) == SIGUSR1);
}

TEST_CASE("signals are ignored behind a watch that says so") {
  const auto raise_behind = [](bool ignores) {
    {
      SignalWatch watch({SIGUSR1, SIGTERM});
      if (ignores) watch.ignore_afterwards();
    }
    return std::raise(SIGTERM);
  };
  CHECK(end_of([&] { return raise_behind(true); }) == kReturned);
  CHECK(end_of([&] { return raise_behind(false); }) == SIGTERM);
}

TEST_CASE("a rank ends that is to end when the ranks do not agree to stop") {
  const auto ask = [](bool watches, bool agrees, TerminationWatch::Time::duration patience) {
    const SignalWatch signals({SIGTERM});
    TerminationWatch watch(Rank(1), watches, patience);
    watch.begin();
    watch.progressed();
    if (agrees) watch.agreed();
    std::raise(SIGTERM);
    // Until the watch has looked, or far longer than it takes to look.
    if (watches && !agrees && patience == 0s) ::pause();
    for (int i = 0; i < 1000; ++i) watch.progressed();
    return 0;
  };
  CHECK(end_of([&] { return ask(true, false, 0s); }) == SIGTERM);
  CHECK(end_of([&] { return ask(true, true, 0s); }) == kReturned);
  CHECK(end_of([&] { return ask(true, false, 1h); }) == kReturned);
  CHECK(end_of([&] { return ask(false, false, 0s); }) == kReturned);
}

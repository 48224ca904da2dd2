// Signals that ask an application to stop, from its start to its end.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <vector>

#include "apps/common/held_signals.hpp"
#include "apps/common/termination_watch.hpp"
#include "lapse/core/process/signal_watch.hpp"
#include "lapse/core/types.hpp"
#include "test/support/catch.hpp"

using lapse::Rank;
using lapse::SignalWatch;
using namespace lapse::apps;
using namespace std::chrono_literals;

namespace {

constexpr int kReturned = 42;
constexpr unsigned kTooLong = 60;

// How a process that runs `work` ends: the number of a signal, or kReturned + its return value.
int end_of(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kTooLong);
    std::signal(SIGTERM, SIG_DFL);  // the test program catches it
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
  // Without a watch the signal has its default effect.
  CHECK(end_of([] {
          hold_signals();
          std::raise(SIGUSR1);
          release_signals();
          return 0;
        }) == SIGUSR1);
}

TEST_CASE("watches of one signal end in any order") {
  CHECK(end_of([] {
          std::optional<SignalWatch> first(std::in_place, std::vector{SIGUSR1});
          const SignalWatch second({SIGUSR1});
          first.reset();
          std::raise(SIGUSR1);
          return second.received() == SIGUSR1 ? 1 : 0;
        }) == kReturned + 1);
  CHECK(end_of([] {
          std::optional<SignalWatch> first(std::in_place, std::vector{SIGUSR1});
          std::optional<SignalWatch> second(std::in_place, std::vector{SIGUSR1});
          first.reset();
          second.reset();
          return std::raise(SIGUSR1);
        }) == SIGUSR1);
}

TEST_CASE("what a signal did before the first watch is put back") {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction after {};
  {
    const SignalWatch first({SIGUSR2});
    sigaction(SIGUSR2, &ignored, nullptr);
    const SignalWatch second({SIGUSR2});
  }
  sigaction(SIGUSR2, nullptr, &after);
  CHECK(after.sa_handler == SIG_DFL);
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

TEST_CASE("a rank that is to end and does not stop in time ends by SIGTERM") {
  const auto ends = [](bool watches, bool finishes, std::chrono::milliseconds limit) {
    return end_of([=] {
      const SignalWatch caught({SIGTERM});
      TerminationWatch watch(Rank(1), watches, limit);
      if (finishes) watch.finish();
      std::raise(SIGTERM);
      while (watches && !finishes && limit < 1h) ::pause();
      ::poll(nullptr, 0, 300);  // Longer than the watch needs to find the signal.
      return 0;
    });
  };
  CHECK(ends(true, false, 0ms) == SIGTERM);
  CHECK(ends(true, false, 150ms) == SIGTERM);
  CHECK(ends(true, false, 1h) == kReturned);
  CHECK(ends(true, true, 0ms) == kReturned);
  CHECK(ends(false, false, 0ms) == kReturned);
}

#include "lapse/core/process/signal_watch.hpp"

#include <fmt/format.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): sigabbrev_np

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "lapse/core/error.hpp"
#include "lapse/core/mutex.hpp"

namespace lapse {

namespace {

using Count = std::atomic<std::uint32_t>;
static_assert(Count::is_always_lock_free);

// How often each signal has arrived. A handler gets only the number of its signal.
std::array<Count, NSIG>& counts() {
  static constinit std::array<Count, NSIG> counts{};
  return counts;
}

// The existing watches of a signal, and what the signal did before the first.
struct Watchers {
  std::size_t count = 0;
  struct sigaction former = {};
};

Mutex& watchers_mutex() {
  static Mutex mutex;
  return mutex;
}

std::array<Watchers, NSIG>& watchers() LAPSE_REQUIRES(watchers_mutex()) {
  static std::array<Watchers, NSIG> watchers{};
  return watchers;
}

extern "C" void lapse_count_signal(int signal) {
  counts()[static_cast<std::size_t>(signal)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

SignalWatch::SignalWatch(const std::vector<int>& signals) {
  const MutexLock lock(watchers_mutex());
  for (const int signal : signals) {
    struct sigaction action {};
    action.sa_handler = lapse_count_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    Watched watched{signal, 0};
    if (signal > 0 && signal < NSIG)
      watched.before = counts()[static_cast<std::size_t>(signal)].load(std::memory_order_relaxed);
    struct sigaction former {};
    if (sigaction(signal, &action, &former) != 0) {
      const int error = errno;
      put_back();
      throw UsageError(
          fmt::format("signal {} cannot be caught: {}", signal, std::generic_category().message(error)));
    }
    Watchers& others = watchers()[static_cast<std::size_t>(signal)];
    if (others.count == 0) others.former = former;
    ++others.count;
    watched_.push_back(watched);
  }
}

SignalWatch::~SignalWatch() {
  const MutexLock lock(watchers_mutex());
  put_back();
}

void SignalWatch::put_back() noexcept LAPSE_NO_THREAD_SAFETY_ANALYSIS {
  for (const Watched& watched : watched_) {
    Watchers& all = watchers()[static_cast<std::size_t>(watched.signal)];
    if (--all.count == 0) sigaction(watched.signal, &all.former, nullptr);
  }
}

void SignalWatch::ignore_afterwards() {
  const MutexLock lock(watchers_mutex());
  for (const Watched& watched : watched_) {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    watchers()[static_cast<std::size_t>(watched.signal)].former = ignored;
  }
}

std::optional<int> SignalWatch::received() const {
  for (const Watched& watched : watched_) {
    const Count& count = counts()[static_cast<std::size_t>(watched.signal)];
    if (count.load(std::memory_order_relaxed) != watched.before) return watched.signal;
  }
  return std::nullopt;
}

std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace lapse

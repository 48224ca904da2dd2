// Signals that ask a process to end its work.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lapse {

// Catches signals during its lifetime; the last object for a signal restores the handler from before the
// first. The handler only increments a lock-free atomic counter.
//
// Thread safety: any thread.
class SignalWatch {
 public:
  // Throws UsageError for a number that is no signal or a signal that cannot be caught.
  explicit SignalWatch(const std::vector<int>& signals);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // At the end, ignores the signals instead of restoring the handlers.
  void ignore_afterwards();
  // One of the signals received since the object was made; nullopt if none.
  std::optional<int> received() const;

 private:
  struct Watched {
    int signal;
    std::uint32_t before;  // its count before
  };

  void put_back() noexcept;

  std::vector<Watched> watched_;
};

// A name such as "SIGUSR1".
std::string signal_name(int signal);

}  // namespace lapse

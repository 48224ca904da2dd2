// Signals that ask a process to end its work.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lapse {

// Catches signals while it exists; with the last object for a signal, the handler that was there before the
// first is put back. The handler counts, in an atomic variable that is not locked, and does nothing else.
//
// Thread safety: any thread.
class SignalWatch {
 public:
  // Throws UsageError for a number that is no signal, or of one that cannot be caught.
  explicit SignalWatch(const std::vector<int>& signals);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // What is put back in the end is that the signals are ignored.
  void ignore_afterwards();
  // One of the signals that has come since the object was made.
  std::optional<int> received() const;

 private:
  struct Watched {
    int signal;
    std::uint32_t before;  // how often it had come
  };

  void put_back() noexcept;

  std::vector<Watched> watched_;
};

// Such as "SIGUSR1".
std::string signal_name(int signal);

}  // namespace lapse

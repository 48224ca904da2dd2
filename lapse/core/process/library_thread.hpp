// Threads that the library makes.
#pragma once

#include <csignal>

#include <string>
#include <thread>
#include <utility>

#include "lapse/core/export.hpp"

namespace lapse {

namespace detail {

// Signals that come to the process as a whole, or to this thread, wait as long as the object lives, except
// those that a fault of the thread itself raises, and those of profilers. A thread that is made meanwhile
// inherits that, for its life.
class LAPSE_EXPORT HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

// Names the calling thread, as debuggers and top show it; what is behind 15 characters is cut off.
LAPSE_EXPORT void name_thread(const std::string& name) noexcept;

}  // namespace detail

// Makes a thread of this name that runs code of the application, such as a worker: it takes the signals that
// the calling thread takes, as that code may raise them, and begin threads and processes that inherit that.
// f must not throw. Throws std::system_error where no thread can be made.
template <class Thread = std::thread, class F>
[[nodiscard]] Thread start_application_thread(std::string name, F f) {
  return Thread([name = std::move(name), f = std::move(f)]() mutable {
    detail::name_thread(name);
    f();
  });
}

// The same for code of the library. Every other thread of the library is made here: it takes no signals, so
// that handlers of the application run on threads that run its code.
template <class Thread = std::thread, class F>
[[nodiscard]] Thread start_library_thread(std::string name, F f) {
  const detail::HeldSignals held;
  return start_application_thread<Thread>(std::move(name), std::move(f));
}

}  // namespace lapse

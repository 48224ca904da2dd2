// Threads that the library creates.
#pragma once

#include <csignal>

#include <string>
#include <thread>
#include <utility>

#include "lapse/core/export.hpp"

namespace lapse {

namespace detail {

// Signals to the process or to this thread are deferred during the object's lifetime, except those raised by
// the thread's own faults and those of profilers. A thread created meanwhile inherits this for its life.
class LAPSE_EXPORT HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

// Names the calling thread, as debuggers and top show it; cut off after 15 characters.
LAPSE_EXPORT void name_thread(const std::string& name) noexcept;

}  // namespace detail

// Creates a named thread that runs application code, such as a worker. It takes the same signals as the
// calling thread, as that code may raise them, and start threads and processes that inherit them. f must not
// throw. Throws std::system_error if no thread can be created.
template <class Thread = std::thread, class F>
[[nodiscard]] Thread start_application_thread(std::string name, F f) {
  return Thread([name = std::move(name), f = std::move(f)]() mutable {
    detail::name_thread(name);
    f();
  });
}

// Like start_application_thread, for code of the library. Every other thread of the library is created here:
// it takes no signals, so that the application's handlers run on threads that run its code.
template <class Thread = std::thread, class F>
[[nodiscard]] Thread start_library_thread(std::string name, F f) {
  const detail::HeldSignals held;
  return start_application_thread<Thread>(std::move(name), std::move(f));
}

}  // namespace lapse

#include "lapse/core/process/library_thread.hpp"

#include <pthread.h>

#include <array>
#include <cstddef>

namespace lapse::detail {

HeldSignals::HeldSignals() {
  sigset_t held;
  sigfillset(&held);
  // A blocked fault would end the process at once, without its handler's report.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&held, fault);
  for (const int profile : {SIGPROF, SIGVTALRM}) sigdelset(&held, profile);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void name_thread(const std::string& name) noexcept {
  std::array<char, 16> text{};  // Linux: with the 0.
  name.copy(text.data(), text.size() - 1);
  pthread_setname_np(pthread_self(), text.data());
}

}  // namespace lapse::detail

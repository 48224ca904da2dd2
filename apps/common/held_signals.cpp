#include "apps/common/held_signals.hpp"

#include <csignal>

namespace lapse::apps {

namespace {

void change_mask(int how) {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(how, &signals, nullptr);
}

}  // namespace

void hold_signals() {
  change_mask(SIG_BLOCK);
}

void release_signals() {
  change_mask(SIG_UNBLOCK);
}

}  // namespace lapse::apps

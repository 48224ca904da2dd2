#include "lapse/transport/host/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <thread>

namespace lapse {

namespace {
std::uint32_t* futex_word(std::atomic<std::uint32_t>& word) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&word);
}
}  // namespace

void Doorbell::wait(std::uint32_t how, std::chrono::microseconds limit) {
  if (limit.count() <= 0) {
    std::this_thread::yield();
    return;
  }
  timespec timeout{};
  timeout.tv_sec = limit.count() / 1'000'000;
  timeout.tv_nsec = (limit.count() % 1'000'000) * 1000;
  // Woken, timed out, interrupted or already rung: in every case the caller checks again.
  const int call = scope_ == Scope::process ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT;
  syscall(SYS_futex, futex_word(*word_), call, how, &timeout, nullptr, 0);
}

void Doorbell::wake() {
  word_->store(0, std::memory_order_relaxed);
  const int call = scope_ == Scope::process ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE;
  syscall(SYS_futex, futex_word(*word_), call, 1, nullptr, nullptr, 0);
}

}  // namespace lapse

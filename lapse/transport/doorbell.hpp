// Sleep until somebody rings, without losing a ring.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lapse {

// One sleeper, any number of ringers. The sleeper announces itself, looks once more for a reason to stay
// awake, and only then sleeps; a ringer first makes the reason visible, then looks for a sleeper. With a full
// fence on both sides one of the two sees the other.
class Doorbell {
 public:
  using Word = std::atomic<std::uint32_t>;  // zero at the start

  // Within this process.
  Doorbell() : word_(&own_), scope_(Scope::process) {}
  // By a word in memory that processes share; each has a doorbell of its own over it.
  explicit Doorbell(Word& shared) : word_(&shared), scope_(Scope::host) {}
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Sleeps at most `limit`, unless stay_awake() is true after the announcement. May return early.
  template <class StayAwake>
  void sleep(std::chrono::microseconds limit, StayAwake&& stay_awake) {
    word_->store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!stay_awake()) wait(limit);
    word_->store(0, std::memory_order_relaxed);
  }

  // Wakes the sleeper if there is one. What it should see must have been written before.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (word_->load(std::memory_order_relaxed) != 0) wake();
  }

 private:
  enum class Scope : std::uint8_t { process, host };

  void wait(std::chrono::microseconds limit);
  void wake();

  alignas(64) Word own_{0};
  Word* word_;
  Scope scope_;
};

}  // namespace lapse

// Sleep until another thread rings, without losing a ring.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lapse {

// One sleeper, any number of ringers. The sleeper announces itself, checks once more for a reason to stay
// awake, then sleeps. A ringer first makes the reason visible, then checks for a sleeper. A full fence on
// both sides ensures that one of the two sees the other.
//
// Only force_wake() ends a light sleep, not ring(). Other threads may turn it into a deep one while it lasts.
class Doorbell {
 public:
  using Word = std::atomic<std::uint32_t>;  // zero at the start

  // Within this process.
  Doorbell() : word_(&own_), scope_(Scope::process) {}
  // Uses a word in memory that processes share; each process has its own Doorbell over it.
  explicit Doorbell(Word& shared) : word_(&shared), scope_(Scope::host) {}
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Sleeps at most `limit`, unless stay_awake() is true after the announcement. May return early. A limit of
  // zero yields to other threads.
  template <class StayAwake>
  void sleep(std::chrono::microseconds limit, StayAwake&& stay_awake) {
    rest(kAsleep, limit, stay_awake);
  }
  template <class StayAwake>
  void light_sleep(std::chrono::microseconds limit, StayAwake&& stay_awake) {
    rest(kLightlyAsleep, limit, stay_awake);
  }

  // Wakes a sleeper, except from light sleep. The caller must first write what the sleeper should see.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (word_->load(std::memory_order_relaxed) == kAsleep) wake();
  }
  // Wakes a sleeper from any sleep.
  void force_wake() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (word_->load(std::memory_order_relaxed) != kAwake) wake();
  }
  // Whether a thread was recently in deep sleep.
  bool is_asleep() const { return word_->load(std::memory_order_relaxed) == kAsleep; }
  // From now on ring() ends a light sleep; the caller must check for reasons from before. False if no thread
  // sleeps lightly.
  bool deepen() {
    std::uint32_t lightly = kLightlyAsleep;
    return word_->load(std::memory_order_relaxed) == kLightlyAsleep &&
           word_->compare_exchange_strong(lightly, kAsleep, std::memory_order_seq_cst);
  }

 private:
  enum class Scope : std::uint8_t { process, host };
  static constexpr std::uint32_t kAwake = 0;
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kLightlyAsleep = 2;

  template <class StayAwake>
  void rest(std::uint32_t how, std::chrono::microseconds limit, StayAwake&& stay_awake) {
    word_->store(how, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!stay_awake()) wait(how, limit);
    word_->store(kAwake, std::memory_order_relaxed);
  }
  void wait(std::uint32_t how, std::chrono::microseconds limit);
  void wake();

  alignas(64) Word own_{0};
  Word* word_;
  Scope scope_;
};

}  // namespace lapse

// Sleep until somebody rings, without losing a ring.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lapse {

// One sleeper, any number of ringers. The sleeper announces itself, looks once more for a reason to stay
// awake, and only then sleeps; a ringer first makes the reason visible, then looks for a sleeper. With a full
// fence on both sides one of the two sees the other.
//
// A sleeper may also doze: then ring() leaves it in peace, and knock() wakes it all the same. Others may turn
// dozing into sleep while it lasts.
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
    rest(kAsleep, limit, stay_awake);
  }
  template <class StayAwake>
  void doze(std::chrono::microseconds limit, StayAwake&& stay_awake) {
    rest(kDozing, limit, stay_awake);
  }

  // Wakes the sleeper if there is one. What it should see must have been written before.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (word_->load(std::memory_order_relaxed) == kAsleep) wake();
  }
  // The same for one who dozes too.
  void knock() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (word_->load(std::memory_order_relaxed) != kAwake) wake();
  }
  // Whether somebody slept a moment ago.
  bool is_asleep() const { return word_->load(std::memory_order_relaxed) == kAsleep; }
  // From now on ring() wakes who dozes; the caller has to look for reasons from before. False when nobody
  // dozes.
  bool expose() {
    std::uint32_t dozing = kDozing;
    return word_->load(std::memory_order_relaxed) == kDozing &&
           word_->compare_exchange_strong(dozing, kAsleep, std::memory_order_seq_cst);
  }

 private:
  enum class Scope : std::uint8_t { process, host };
  static constexpr std::uint32_t kAwake = 0;
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kDozing = 2;

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

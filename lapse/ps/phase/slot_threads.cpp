#include "lapse/ps/phase/slot_threads.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/process/library_thread.hpp"

namespace lapse {

SlotThreads::~SlotThreads() {
  for (const auto& slot : slots_) {
    {
      const MutexLock guard(slot->mutex);
      slot->ending = true;
    }
    slot->bell.notify_one();
  }
  for (const auto& slot : slots_) slot->thread.join();
}

void SlotThreads::prepare(std::size_t slots) {
  slots_.reserve(slots);
  while (slots_.size() < slots) {
    const std::size_t number = slots_.size();
    auto slot = std::make_unique<Slot>();
    try {
      slot->thread = start_application_thread(fmt::format("lapse-worker{}", number),
                                              [this, &slot = *slot, number] { serve(slot, number); });
    } catch (const std::system_error& error) {
      throw Error(fmt::format(
          "worker {} of {} cannot start its thread: {}; fewer workers, or higher limits of threads "
          "and addresses "
          "(ulimit -u, ulimit -v; the batch system's limits)",
          number + 1, slots, error.what()));
    }
    slots_.push_back(std::move(slot));
  }
}

void SlotThreads::start(std::size_t slot, const Job& job) {
  running_.fetch_add(1, std::memory_order_relaxed);
  {
    const MutexLock guard(slots_[slot]->mutex);
    slots_[slot]->job = &job;
  }
  slots_[slot]->bell.notify_one();
}

void SlotThreads::serve(Slot& slot, std::size_t number) {
  for (;;) {
    const Job* job = nullptr;
    {
      const MutexLock guard(slot.mutex);
      slot.mutex.wait(slot.bell,
                      [&]() LAPSE_REQUIRES(slot.mutex) { return slot.ending || slot.job != nullptr; });
      if (slot.job == nullptr) return;
      job = std::exchange(slot.job, nullptr);
    }
    (*job)(number);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace lapse

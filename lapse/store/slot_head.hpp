// The head before the value, in slots of tables that can have replicas.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lapse/store/values/value_layout.hpp"

namespace lapse {

//     | version 64 | record 32 | pushes 32 |
//
// Written under the key's latch. Other threads read the version meanwhile, between two loads of the slot
// word; record and pushes are read only under the latch.
struct SlotHead {
  static constexpr std::uint32_t kNoRecord = 0xffffffff;

  std::uint64_t version = 0;         // of the main copy that this slot shows
  std::uint32_t record = kNoRecord;  // number of the holder's record, or TableCopies' note of holders
  std::uint32_t pushes = 0;          // gradients in the slot's sum

  // The head of the slot with the value at `content`.
  static SlotHead& of(std::byte* content) {
    return *reinterpret_cast<SlotHead*>(content - ValueLayout::kHeadBytes);
  }
  static const SlotHead& of(const std::byte* content) {
    return *reinterpret_cast<const SlotHead*>(content - ValueLayout::kHeadBytes);
  }

  // Also read without the latch (Store::copy_version): then the slot may be released meanwhile, and the
  // caller checks the slot word again.
  __attribute__((no_sanitize("thread"))) static std::uint64_t version_of(const std::byte* content) {
    return __atomic_load_n(&of(content).version, __ATOMIC_RELAXED);
  }
  static void set_version(std::byte* content, std::uint64_t version) {
    std::atomic_ref(of(content).version).store(version, std::memory_order_relaxed);
  }
  // Requires the latch.
  static void raise_version(std::byte* content) { set_version(content, of(content).version + 1); }
  // For a newly allocated slot.
  static void clear(std::byte* content) {
    set_version(content, 0);
    of(content).record = kNoRecord;
    of(content).pushes = 0;
  }
};

static_assert(sizeof(SlotHead) == ValueLayout::kHeadBytes);

}  // namespace lapse

// The distinct keys of a batch.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::apps {

// Gives each distinct key of a batch one slot, in order of first appearance, so that it is pulled and pushed
// once. Takes 12 bytes per key of the table. Belongs to one worker.
class KeySlots {
 public:
  // For the keys 0 to keys - 1.
  explicit KeySlots(std::uint64_t keys) : last_batch_(keys), slot_(keys) {}

  // Forgets all keys.
  void start_batch() { ++batches_; }
  // The slot of the key in the batch: its index in `keys`. Appends a new key.
  std::uint32_t slot(Key key, std::vector<Key>& keys) {
    if (last_batch_[key.index()] != batches_) {
      last_batch_[key.index()] = batches_;
      slot_[key.index()] = static_cast<std::uint32_t>(keys.size());
      keys.push_back(key);
    }
    return slot_[key.index()];
  }

 private:
  std::uint64_t batches_ = 1;
  std::vector<std::uint64_t> last_batch_;  // by key: the last batch with it
  std::vector<std::uint32_t> slot_;        // by key: its slot in that batch
};

}  // namespace lapse::apps

// Which keys a worker can access in local memory.
#pragma once

#include <cstddef>
#include <span>

#include "lapse/core/types.hpp"

namespace adapm {

// The interface that sampling uses. Thread safety: the worker's thread.
class UsableKeys {
 public:
  static constexpr std::size_t kMaxAtOnce = 32;

  virtual ~UsableKeys() = default;

  // Sets usable[i] if an access to keys[i] would need no message. At most kMaxAtOnce keys.
  virtual void find(std::span<const lapse::Key> keys, std::span<bool> usable) = 0;
};

}  // namespace adapm

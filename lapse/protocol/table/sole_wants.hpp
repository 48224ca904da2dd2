// Estimates whether keys that a domain begins to want are likely wanted by no other domain.
#pragma once

#include <cstdint>

namespace lapse {

// For one table, from the last few thousand keys that arrived: as main copies without other holders, or
// shared with other domains.
//
// Thread safety: none.
class SoleWants {
 public:
  void count_alone(std::uint64_t keys) {
    alone_ += keys;
    forget();
  }
  void count_shared() {
    ++shared_;
    forget();
  }
  // True if at least three of four keys were alone. False until enough keys have arrived.
  bool likely() const { return alone_ + shared_ >= kFewest && alone_ >= 3 * shared_; }

 private:
  static constexpr std::uint64_t kFewest = 1024;
  static constexpr std::uint64_t kRemembered = 8192;

  void forget() {
    while (alone_ + shared_ > kRemembered) {
      alone_ /= 2;
      shared_ /= 2;
    }
  }

  std::uint64_t alone_ = 0;
  std::uint64_t shared_ = 0;
};

}  // namespace lapse

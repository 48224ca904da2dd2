// Whether the keys that a domain comes to want are likely to be wanted by no other domain.
#pragma once

#include <cstdint>

namespace lapse {

// For one table, estimated from the keys that have come: as main copies without members, or shared with
// others. The last few thousand count.
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
  // Three of four were alone. Before enough keys have come: false.
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

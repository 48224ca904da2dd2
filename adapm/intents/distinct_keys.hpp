// Removes repeated keys from lists.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// A hash table that is emptied at no cost: each entry carries the number of its list. Keeps the memory of the
// longest list, 32 to 64 bytes a key. Very long lists are sorted instead.
//
// Thread safety: none.
class DistinctKeys {
 public:
  // Keeps one of equal keys. Throws std::bad_alloc; then `keys` is unchanged.
  void keep_one(std::vector<lapse::Key>& keys) {
    if (keys.size() < 2) return;
    if (keys.size() > kMaxHashed) {
      std::ranges::sort(keys);
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      return;
    }
    const std::size_t wanted = std::bit_ceil(2 * keys.size());
    if (entries_.size() < wanted) {
      entries_.assign(wanted, {});
      list_ = 0;
    }
    ++list_;
    const std::size_t mask = entries_.size() - 1;
    std::size_t kept = 0;
    for (const lapse::Key key : keys) {
      std::size_t at = lapse::mix_bits(key.value()) & mask;
      while (entries_[at].list == list_ && entries_[at].key != key) at = (at + 1) & mask;
      if (entries_[at].list == list_) continue;
      entries_[at] = {key, list_};
      keys[kept++] = key;
    }
    keys.resize(kept);
  }

 private:
  static constexpr std::size_t kMaxHashed = std::size_t{1} << 16;

  struct Entry {
    lapse::Key key;
    std::uint64_t list = 0;
  };
  std::vector<Entry> entries_;
  std::uint64_t list_ = 0;
};

}  // namespace adapm

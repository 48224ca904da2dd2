// Searches intents for a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "adapm/intent.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// How much may still be compared.
class SearchBudget {
 public:
  explicit SearchBudget(std::size_t keys) : left_(keys) {}

  bool is_spent() const { return left_ == 0; }
  // Returns how many of these keys may be compared.
  std::size_t spend(std::size_t keys) {
    const std::size_t compared = std::min(left_, keys);
    left_ -= std::min(left_, keys + kOfIntent);
    return compared;
  }

 private:
  static constexpr std::size_t kOfIntent = 8;  // an intent costs as much as some keys

  std::size_t left_;
};

// False if it is spent before the key is found.
inline bool has_key(const Intent& intent, lapse::TableId table, lapse::Key key, SearchBudget& budget) {
  if (intent.table != table) {
    budget.spend(0);
    return false;
  }
  if (intent.range.first <= key && key < intent.range.end) return true;
  const auto keys = std::span(intent.keys).first(budget.spend(intent.keys.size()));
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace adapm

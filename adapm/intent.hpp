// What a worker announces: which keys it will access, and when.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"

namespace adapm {

// What a worker does with the keys of an intent. Both are managed alike: a key that is only read is brought
// near for the reads, and its copy sends nothing as long as it is not written. What a worker does with a key
// is not bound by the type; statistics count the keys of each.
enum class IntentType : std::uint8_t { read_write, read_only };

// The keys from `first` to before `end`.
struct KeyRange {
  lapse::Key first;
  lapse::Key end;

  std::uint64_t size() const { return end.value() - first.value(); }
  bool operator==(const KeyRange&) const = default;
};

// A worker will access keys of a table while its clock is at least `start` and below `end`: the keys listed,
// or those of a range.
struct Intent {
  lapse::TableId table = {};
  IntentType type = IntentType::read_write;
  lapse::Clock start = {};
  lapse::Clock end = {};
  KeyRange range = {};
  std::vector<lapse::Key> keys = {};

  std::uint64_t size() const { return keys.size() + range.size(); }
};

}  // namespace adapm

// What a worker announces: which keys it will access, and when.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"

namespace adapm {

// What a worker does with the keys of an intent. Both types are managed alike: a replica sends nothing until
// it is written. The type does not restrict accesses; statistics count the keys of each type.
enum class IntentType : std::uint8_t { read_write, read_only };

// The keys from `first` up to, not including, `end`.
struct KeyRange {
  lapse::Key first;
  lapse::Key end;

  std::uint64_t size() const { return end.value() - first.value(); }
  bool operator==(const KeyRange&) const = default;
};

// A worker will access keys of a table, listed or a range, while its clock is at least `start` and below
// `end`.
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

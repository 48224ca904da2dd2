// Prefetching for the records of a frame that begin with a key.
#pragma once

#include <cstdint>
#include <cstring>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// `record` is number `at` of the frame. Prefetches the slot word of a key some records ahead, and the value
// of a key a few records ahead. Does not trust the keys: a message may be malformed.
inline void prefetch_ahead(const TableShard& table, const FrameHeader& header, const std::byte* record,
                           std::uint32_t at) {
  constexpr std::uint32_t kFarAhead = 20;
  constexpr std::uint32_t kWordsAhead = 12;
  constexpr std::uint32_t kValuesAhead = 4;
  std::uint64_t key = 0;
  if (table.store().is_sparse() && at + kFarAhead < header.count) {
    std::memcpy(&key, record + std::size_t{kFarAhead} * header.record_bytes, sizeof key);
    table.store().prefetch_far(Key(key));
  }
  if (at + kWordsAhead < header.count) {
    std::memcpy(&key, record + std::size_t{kWordsAhead} * header.record_bytes, sizeof key);
    if (table.store().has(Key(key))) table.store().prefetch_word(Key(key));
  }
  if (at + kValuesAhead < header.count) {
    std::memcpy(&key, record + std::size_t{kValuesAhead} * header.record_bytes, sizeof key);
    if (table.store().has(Key(key))) table.store().prefetch_value(Key(key));
  }
}

}  // namespace lapse

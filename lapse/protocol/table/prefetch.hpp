// Prefetching for the records of a frame that begin with a key.
#pragma once

#include <cstdint>

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
  const auto key_ahead = [&](std::uint32_t distance) {
    return Key(read_record<std::uint64_t>(record + std::size_t{distance} * header.record_bytes));
  };
  const Store& store = table.store();
  if (store.is_sparse() && at + kFarAhead < header.count) store.prefetch_far(key_ahead(kFarAhead));
  if (at + kWordsAhead < header.count && store.has(key_ahead(kWordsAhead)))
    store.prefetch_word(key_ahead(kWordsAhead));
  if (at + kValuesAhead < header.count && store.has(key_ahead(kValuesAhead)))
    store.prefetch_value(key_ahead(kValuesAhead));
}

}  // namespace lapse

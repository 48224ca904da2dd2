#include "lapse/protocol/records/element_records.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/operation_records.hpp"
#include "lapse/protocol/table/element_payload.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

void check_elements(const TableShard& table, const OperationPart& part, std::size_t bytes) {
  const std::size_t element = element_bytes(table.sizes().layout().type);
  if (bytes < ElementPayload::kCountBytes ||
      bytes != ElementPayload::bytes(part.kind, ElementPayload::count(part.value), element)) {
    throw ProtocolError("a message holds an operation on elements of a wrong length");
  }
  const ElementRun run = ElementPayload::run(part.value);
  const std::size_t length = table.sizes().length(part.key);
  const auto exists = [length](std::uint32_t index) { return index < length; };
  if (run.count == 0 || !std::ranges::all_of(std::span(run.indices, run.count), exists))
    throw ProtocolError("a message names an element that a value does not have");
  if (part.kind == OperationKind::push_elements && !table.definition().rule.is_elementwise())
    throw ProtocolError("a message pushes to elements of a table whose rule cannot");
}

void prefetch_elements_ahead(TableShard& table, const FrameHeader& header, const std::byte* record,
                             std::uint32_t at) {
  constexpr std::uint32_t kFarAhead = 20;
  constexpr std::uint32_t kWordsAhead = 12;
  constexpr std::uint32_t kElementsAhead = 4;
  constexpr std::size_t kFirstIndex = sizeof(OperationRecord) + ElementPayload::kCountBytes;
  const auto key_of = [&](std::uint32_t ahead) {
    std::uint64_t key;
    std::memcpy(&key, record + std::size_t{ahead} * header.record_bytes, sizeof key);
    return Key(key);
  };
  Store& store = table.store();
  if (store.is_sparse() && at + kFarAhead < header.count) store.prefetch_far(key_of(kFarAhead));
  if (at + kWordsAhead < header.count && store.has(key_of(kWordsAhead)))
    store.prefetch_word(key_of(kWordsAhead));
  if (at + kElementsAhead >= header.count || header.record_bytes < kFirstIndex + sizeof(std::uint32_t))
    return;
  const Key key = key_of(kElementsAhead);
  std::uint32_t index;
  std::memcpy(&index, record + std::size_t{kElementsAhead} * header.record_bytes + kFirstIndex, sizeof index);
  if (store.has(key)) RowElements(store).prefetch_element(key, index);
}

}  // namespace lapse

#include "lapse/protocol/localize_requests.hpp"

#include <cstring>

#include "lapse/protocol/prefetch.hpp"

namespace lapse {

bool LocalizeRequests::localize(TableState& table, Key key, Waiter waiter, Clock::time_point now) {
  const SlotWord word = table.store.word(key);
  switch (word.role()) {
    case Role::owner:
      return true;
    case Role::arriving:
      table.arrivals.add_waiter(word.low(), waiter);
      return false;
    default:
      break;
  }
  if (table.is_implicit(key)) return true;
  relocation_.begin(table, key, waiter, now);
  return false;
}

void LocalizeRequests::handle_submission(Submission& submission) {
  auto& operation = static_cast<OperationState&>(submission);
  TableState& table = *operation.table;
  const Clock::time_point now = Clock::now();
  std::uint32_t here = 0;
  const std::size_t items = operation.items.size();
  table.counters.localized_keys += items;
  for (std::size_t item = 0; item < items; ++item) {
    const Key key = operation.items[item].key;
    if (item + 8 < items) table.store.prefetch_word(operation.items[item + 8].key);
    if (table.serves(key)) {
      if (localize(table, key, Waiter(operation), now)) ++here;
    } else if (table.store.word(key).role() == Role::owner) {
      ++here;
    } else {
      ask_serving_rank(operation, key);
    }
  }
  if (here > 0) operation.worker->answered(operation, here);
}

void LocalizeRequests::ask_serving_rank(const OperationState& operation, Key key) {
  const TableState& table = *operation.table;
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::localize_for);
  header.table = table.id.value();
  header.origin = context_.self_rank.value();
  header.operation = operation.number;
  context_.outbox.append_record(table.serving_rank(key, table.self_domain()), header,
                                LocalizeRecord{key.value()});
}

void LocalizeRequests::handle_requests(const FrameHeader& header, const std::byte* records) {
  TableState& table = context_.table(header.table);
  const Waiter waiter(context_.checked_rank(header.origin), header.operation);
  const Clock::time_point now = Clock::now();
  std::uint32_t here = 0;
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    prefetch_ahead(table, header, records, i);
    std::uint64_t number;
    std::memcpy(&number, records, sizeof number);
    if (localize(table, ProtocolContext::checked_key(table, number), waiter, now)) ++here;
  }
  if (here > 0) relocation_.tell(waiter, here);
}

void LocalizeRequests::handle_answers(const FrameHeader& header, const std::byte* records) const {
  OperationState& operation = context_.operation(header.operation);
  std::uint64_t keys = 0;
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    PushAnswerRecord record;
    std::memcpy(&record, records, sizeof record);
    keys += record.item;
  }
  if (operation.kind != OperationKind::localize ||
      keys > operation.remaining.load(std::memory_order_relaxed)) {
    throw ProtocolError("an answer does not fit the localize it names");
  }
  operation.worker->answered(operation, static_cast<std::uint32_t>(keys));
}

void LocalizeRequests::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  const bool request = static_cast<FrameKind>(header.kind) == FrameKind::localize_for;
  if (header.record_bytes != (request ? sizeof(LocalizeRecord) : sizeof(PushAnswerRecord)))
    throw ProtocolError("a request to localize, or the answer to one, has a wrong length");
  if (request) {
    handle_requests(header, records);
  } else {
    handle_answers(header, records);
  }
}

}  // namespace lapse

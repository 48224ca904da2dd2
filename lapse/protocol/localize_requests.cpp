#include "lapse/protocol/localize_requests.hpp"

#include <cstring>

#include "lapse/protocol/prefetch.hpp"

namespace lapse {

bool LocalizeRequests::localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now) {
  const SlotWord word = table.store().word(key);
  switch (acquisition(word.role())) {
    case Acquisition::here:
      return true;
    case Acquisition::join:
      table.arrivals().add_waiter(word.low(), waiter);
      return false;
    case Acquisition::begin:
      break;
  }
  if (table.is_uninitialized(key)) return true;
  if (const auto failure = relocation_.begin(table, key, waiter, now)) answers_.fail(waiter, table, *failure);
  return false;
}

void LocalizeRequests::handle_submission(Submission& submission) {
  auto& operation = static_cast<OperationState&>(submission);
  TableShard& table = *operation.table;
  const Clock::time_point now = Clock::now();
  std::uint32_t here = 0;
  const std::size_t items = operation.items.size();
  table.counters().localized_keys += items;
  for (std::size_t item = 0; item < items; ++item) {
    const Key key = operation.items[item].key;
    if (item + 8 < items) table.store().prefetch_word(operation.items[item + 8].key);
    if (table.serves(key)) {
      if (localize(table, key, Waiter(operation), now)) ++here;
    } else if (has_main_copy(table.store().word(key).role())) {
      ++here;
    } else {
      ask_serving_rank(operation, key);
    }
  }
  if (here > 0) answers_.notify(Waiter(operation), here);
}

void LocalizeRequests::ask_serving_rank(const OperationState& operation, Key key) {
  const TableShard& table = *operation.table;
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::localize_for);
  header.table = table.id().value();
  header.origin = registry_.self().value();
  header.operation = operation.number;
  outbox_.append_record(table.serving_rank(key), header, LocalizeRecord{key.value()});
}

void LocalizeRequests::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  if (header.record_bytes != sizeof(LocalizeRecord))
    throw ProtocolError("a request to localize has a wrong length");
  TableShard& table = registry_.table(header.table);
  const Waiter waiter(registry_.rank(header.origin), header.operation);
  const Clock::time_point now = Clock::now();
  std::uint32_t here = 0;
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    prefetch_ahead(table, header, records, i);
    LocalizeRecord record;
    std::memcpy(&record, records, sizeof record);
    if (localize(table, Registry::served_key(table, record.key), waiter, now)) ++here;
  }
  if (here > 0) answers_.notify(waiter, here);
}

}  // namespace lapse

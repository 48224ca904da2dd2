#include "lapse/protocol/key/localize_answers.hpp"

#include "lapse/protocol/records/key_failure_records.hpp"

namespace lapse {

namespace {

// Null for a worker of another rank.
OperationState* localize_of(Waiter waiter) {
  return static_cast<OperationState*>(waiter.local());
}

}  // namespace

void LocalizeAnswers::notify(Waiter waiter, std::uint32_t keys) {
  if (!waiter) return;
  if (OperationState* operation = localize_of(waiter)) {
    operation->worker->answered(*operation, keys);
    return;
  }
  outbox_.append_record(waiter.rank(), FrameHeader::of(FrameKind::localize_answer, 0, waiter.operation()),
                        LocalizeAnswerRecord{keys});
}

void LocalizeAnswers::fail(Waiter waiter, const TableShard& table, const KeyFailure& failure) {
  if (!waiter) return;
  if (OperationState* operation = localize_of(waiter)) {
    operation->fail(failure);
    operation->worker->answered(*operation, 1);
    return;
  }
  append_failure(outbox_, waiter.rank(),
                 FrameHeader::of(FrameKind::localize_failed, table.id().value(), waiter.operation()),
                 KeyFailureRecord{failure.key.value()}, failure);
}

void LocalizeAnswers::take_failures(OperationState& operation, const FrameHeader& header,
                                    const std::byte* records) {
  const TableShard& table = registry_.table(header.table);
  if (operation.kind != OperationKind::localize || operation.table != &table ||
      header.count > operation.remaining.load(std::memory_order_relaxed)) {
    throw ProtocolError("a failure does not fit the localize it names");
  }
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    operation.fail(read_key_failure(table.name(), header, records));
  }
  operation.worker->answered(operation, header.count);
}

void LocalizeAnswers::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  OperationState& operation = registry_.operation(header.operation);
  if (static_cast<FrameKind>(header.kind) == FrameKind::localize_failed) {
    take_failures(operation, header, records);
    return;
  }
  std::uint64_t keys = 0;
  for (std::uint32_t i = 0; i < header.count; ++i)
    keys += record_of<LocalizeAnswerRecord>(header, records, i, "the answer to a localize has a wrong length")
                .keys;
  if (operation.kind != OperationKind::localize ||
      keys > operation.remaining.load(std::memory_order_relaxed)) {
    throw ProtocolError("an answer does not fit the localize it names");
  }
  operation.worker->answered(operation, static_cast<std::uint32_t>(keys));
}

}  // namespace lapse

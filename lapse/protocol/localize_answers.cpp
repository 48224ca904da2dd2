#include "lapse/protocol/localize_answers.hpp"

#include <cstring>

namespace lapse {

void LocalizeAnswers::notify(Waiter waiter, std::uint32_t keys) {
  if (!waiter) return;
  if (OperationState* operation = waiter.local()) {
    operation->worker->answered(*operation, keys);
    return;
  }
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::localize_answer);
  header.operation = waiter.operation();
  outbox_.append_record(waiter.rank(), header, LocalizeAnswerRecord{keys});
}

void LocalizeAnswers::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  if (header.record_bytes != sizeof(LocalizeAnswerRecord))
    throw ProtocolError("the answer to a localize has a wrong length");
  OperationState& operation = registry_.operation(header.operation);
  std::uint64_t keys = 0;
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    LocalizeAnswerRecord record;
    std::memcpy(&record, records, sizeof record);
    keys += record.keys;
  }
  if (operation.kind != OperationKind::localize ||
      keys > operation.remaining.load(std::memory_order_relaxed)) {
    throw ProtocolError("an answer does not fit the localize it names");
  }
  operation.worker->answered(operation, static_cast<std::uint32_t>(keys));
}

}  // namespace lapse

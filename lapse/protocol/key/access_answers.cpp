// Access: answers to operations of this rank.
#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/protocol/key/access.hpp"
#include "lapse/protocol/key/answered_items.hpp"
#include "lapse/protocol/records/key_failure_records.hpp"

namespace lapse {

void Access::note_version(const OperationState& operation, Key key, std::uint64_t version) {
  const TableShard& table = *operation.table;
  const Store::Word* const word = table.store().find(key);
  if (word == nullptr) return;
  const SlotWord now(word->load(std::memory_order_acquire));
  const bool is_older =
      now.role() == Role::awaiting || (now.is_copy() && table.store().copy_version(*word) < version);
  if (is_older) operation.worker->required_versions().raise(table.id(), key, Version(version));
}

void Access::check_answers(OperationState& operation, const FrameHeader& header, const std::byte* records) {
  using State = OperationState::ItemState;
  const auto kind = static_cast<FrameKind>(header.kind);
  const auto item_at = [&](std::uint32_t i) LAPSE_REQUIRES(progress_role) {
    return operation.item_with(
        read_record<AnswerRecord>(records + std::size_t{i} * header.record_bytes).item);
  };
  OperationPart part;
  part.function = operation.function;
  if (kind == FrameKind::failed_answer) check_failure_length(header, sizeof(AnswerRecord));
  // Each item may be named once: marks those that were seen, until they are answered.
  const char* problem = nullptr;
  std::uint32_t seen = 0;
  for (; seen < header.count; ++seen) {
    OperationState::Item* const item = item_at(seen);
    if (item == nullptr || !item->in_flight()) {
      problem = "an answer names a key that was not asked for";
      break;
    }
    part.key = item->key;
    if (kind == FrameKind::pull_elements_answer) part.value = operation.update(*item);
    if (kind != FrameKind::failed_answer &&
        header.record_bytes != Execution::answer_bytes(kind, *operation.table, part)) {
      problem = "an answer has a wrong length";
      break;
    }
    if (header.count > 1) item->set_state(State::seen);
  }
  if (problem == nullptr) [[likely]]
    return;
  if (header.count > 1) {
    for (std::uint32_t i = 0; i < seen; ++i) item_at(i)->set_state(State::in_flight);
  }
  throw ProtocolError(problem);
}

void Access::handle_answers(const FrameHeader& header, const std::byte* records) {
  const TableShard& table = registry_.table(header.table);
  OperationState& operation = registry_.operation(header.operation);
  const auto kind = static_cast<FrameKind>(header.kind);
  const bool failed = kind == FrameKind::failed_answer;
  if (operation.kind == OperationKind::localize || (!failed && kind != answer_kind(operation.kind)) ||
      operation.table != &table || header.count > operation.remaining.load(std::memory_order_relaxed) ||
      header.domain < 0 || header.domain >= table.definition().domains.domains() ||
      header.record_bytes < sizeof(AnswerRecord)) {
    throw ProtocolError("an answer does not fit the operation it names");
  }
  check_answers(operation, header, records);
  const bool has_version = table.store().may_have_copies() && !failed;
  const std::size_t head_bytes = sizeof(AnswerRecord) + (has_version ? sizeof(std::uint64_t) : 0);
  AnsweredItems answered(*this, operation);
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    OperationState::Item& item = *operation.item_with(read_record<AnswerRecord>(records).item);
    if (failed) {
      operation.fail(read_failure(table.name(), item.key, header, records, sizeof(AnswerRecord)));
    } else if (std::byte* row = operation.row(item); row != nullptr && kind != FrameKind::push_answer) {
      std::memcpy(row, records + head_bytes, header.record_bytes - head_bytes);
    }
    if (has_version)
      note_version(operation, item.key, read_record<std::uint64_t>(records + sizeof(AnswerRecord)));
    answered.add(item, Domain(header.domain));
  }
}

}  // namespace lapse

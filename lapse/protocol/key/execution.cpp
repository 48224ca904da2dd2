#include "lapse/protocol/key/execution.hpp"

#include <fmt/format.h>

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/key_failure_records.hpp"
#include "lapse/protocol/table/element_payload.hpp"

namespace lapse {

namespace {

// Read after the value, so that the value read or written is no newer.
std::uint64_t main_version(const TableShard& table, Key key) {
  return table.store().may_have_copies() ? table.store().main_version(key) : 0;
}

}  // namespace

// --- frames ---

std::uint32_t Execution::answer_bytes(FrameKind kind, const TableShard& table, const OperationPart& part) {
  std::size_t bytes = answer_head_bytes(table);
  if (kind == FrameKind::pull_answer) bytes += table.value_bytes(part.key);
  if (kind == FrameKind::pull_elements_answer)
    bytes += ElementPayload::count(part.value) * element_bytes(table.sizes().layout().type);
  if (kind == FrameKind::call_answer) bytes += part.function->result_bytes;
  return static_cast<std::uint32_t>(bytes);
}

// Like OperationSender::header_of.
const FrameHeader& Execution::answer_header(FrameKind answer, const TableShard& table,
                                            const OperationPart& part) {
  FrameHeader& header = answer_header_;
  const auto kind = static_cast<std::uint16_t>(answer);
  const std::uint32_t bytes = answer_bytes(answer, table, part);
  if (header.operation != part.operation || header.record_bytes != bytes || header.kind != kind ||
      header.table != table.id().value()) {
    header = {.kind = kind,
              .table = table.id().value(),
              .record_bytes = bytes,
              .domain = table.self_domain().value(),
              .operation = part.operation};
  }
  return header;
}

// --- answers ---

std::byte* Execution::answer_row(const TableShard& table, const OperationPart& part, FrameKind kind) {
  if (part.origin == registry_.self()) {
    OperationState& operation = registry_.operation(part.operation);
    return operation.row(*operation.item_with(part.item));
  }
  std::byte* record = outbox_.append(part.origin, answer_header(kind, table, part));
  write_record(record, AnswerRecord{part.item});
  return record + answer_head_bytes(table);
}

void Execution::write_version(const TableShard& table, const OperationPart& part, std::byte* row,
                              std::uint64_t version) {
  if (part.origin == registry_.self() || !table.store().may_have_copies()) return;
  write_record(row - sizeof version, version);
}

void Execution::answer_failure(const TableShard& table, const OperationPart& part,
                               const KeyFailure& failure) {
  if (part.origin == registry_.self()) {
    registry_.operation(part.operation).fail(failure);
    return;
  }
  FrameHeader header = answer_header(FrameKind::push_answer, table, part);
  header.kind = static_cast<std::uint16_t>(FrameKind::failed_answer);
  append_failure(outbox_, part.origin, header, AnswerRecord{part.item}, failure);
}

void Execution::answer_change(const TableShard& table, const OperationPart& part, const Failed& failed,
                              std::uint64_t version) {
  if (failed) {
    answer_failure(table, part, *failed);
  } else if (part.kind == OperationKind::call) {
    std::byte* const to = answer_row(table, part, FrameKind::call_answer);
    if (to == nullptr) return;
    if (!result_.empty()) std::memcpy(to, result_.data(), result_.size());
    write_version(table, part, to, version);
  } else if (part.origin != registry_.self()) {
    write_version(table, part, answer_row(table, part, FrameKind::push_answer), version);
  }
}

// --- execution ---

Execution::Failed Execution::change(const TableShard& table, const OperationPart& part, std::byte* content) {
  try {
    if (part.kind == OperationKind::call) result_.assign(part.function->result_bytes, std::byte{0});
    table.apply(part, part.key, content, part.value, result_.data());
    return nullptr;
  } catch (...) {
    return std::make_unique<KeyFailure>(
        KeyFailure::caught_from_user_code(table.name(), part.key, registry_.self()));
  }
}

bool Execution::execute(TableShard& table, const OperationPart& part) {
  if (table.store().is_sparse() && table.is_uninitialized(part.key)) {
    execute_uninitialized(table, part);
    return true;
  }
  return execute_here(table, part);
}

bool Execution::execute_on_copy(TableShard& table, const OperationPart& part) {
  if (is_read(part.kind)) {
    std::byte* const to = answer_row(table, part, answer_kind(part.kind));
    return to == nullptr || read(table.store(), part, Store::Reach::any, to);
  }
  Store::Word* const word = table.store().find(part.key);
  if (word == nullptr) return false;
  Failed failed;
  Found found;
  try {
    found = table.push_any(*word, part.key, part, part.value);
  } catch (...) {
    failed = std::make_unique<KeyFailure>(
        KeyFailure::caught_from_user_code(table.name(), part.key, registry_.self()));
  }
  if (!found && !failed) return false;
  answer_change(table, part, failed, 0);
  return true;
}

bool Execution::read(Store& store, const OperationPart& part, Store::Reach reach, std::byte* to) {
  if (part.kind == OperationKind::pull)
    return static_cast<bool>(reach == Store::Reach::any ? store.read(part.key, to)
                                                        : store.read_main(part.key, to));
  Store::Word* const word = store.find(part.key);
  return word != nullptr && RowElements(store).read_at(*word, reach, ElementPayload::run(part.value), to);
}

bool Execution::execute_here(TableShard& table, const OperationPart& part) {
  if (!is_read(part.kind)) {
    Failed failed;
    const Found found = table.store().update_main(part.key, [&](std::byte* content) {
      progress_role.assert_held();  // Called in place.
      failed = change(table, part, content);
    });
    if (!found) return false;
    answer_change(table, part, failed, main_version(table, part.key));
    return true;
  }
  std::byte* to = answer_row(table, part, answer_kind(part.kind));
  if (to == nullptr) return true;
  if (read(table.store(), part, Store::Reach::main, to)) {
    write_version(table, part, to, main_version(table, part.key));
    return true;
  }
  if (part.origin != registry_.self()) outbox_.cancel();
  return false;
}

void Execution::execute_uninitialized(TableShard& table, const OperationPart& part) {
  const Failed failed = failure_of(table.name(), part.key, registry_.self(), [&] {
    progress_role.assert_held();  // Called in place.
    if (is_read(part.kind)) {
      result_.resize(table.content_bytes(part.key));
      table.write_initial(part.key, result_.data());
    } else {
      table.create(part.key);
    }
  });
  if (failed) {
    answer_failure(table, part, *failed);
  } else if (!is_read(part.kind)) {
    // Sparse tables are not shared: the key that was just created is local.
    static_cast<void>(execute_here(table, part));
  } else if (std::byte* to = answer_row(table, part, answer_kind(part.kind))) {
    table.apply(part, part.key, result_.data(), part.value, to);
    write_version(table, part, to, 0);
  }
}

void Execution::execute_on(TableShard& table, const OperationPart& part, std::byte* content) {
  const bool has_version = table.store().may_have_copies();
  if (!is_read(part.kind)) {
    const Failed failed = change(table, part, content);
    if (has_version && SlotHead::of(content).record != SlotHead::kNoRecord) SlotHead::raise_version(content);
    answer_change(table, part, failed, has_version ? SlotHead::version_of(content) : 0);
  } else if (std::byte* to = answer_row(table, part, answer_kind(part.kind))) {
    table.apply(part, part.key, content, part.value, to);
    write_version(table, part, to, has_version ? SlotHead::version_of(content) : 0);
  }
}

}  // namespace lapse

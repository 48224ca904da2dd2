#include "lapse/protocol/key/operation_sender.hpp"

#include <fmt/format.h>

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/operation_records.hpp"
#include "lapse/protocol/table/element_payload.hpp"
#include "lapse/protocol/table/registered_function.hpp"

namespace lapse {

std::size_t OperationSender::update_bytes(const TableShard& table, const OperationPart& part) {
  switch (part.kind) {
    case OperationKind::pull:
    case OperationKind::localize:
      return 0;
    case OperationKind::call:
      return part.function->argument_bytes;
    case OperationKind::pull_elements:
    case OperationKind::push_elements:
      return ElementPayload::bytes(part.kind, ElementPayload::count(part.value),
                                   element_bytes(table.sizes().layout().type));
    case OperationKind::push:
    case OperationKind::set:
      break;
  }
  return table.value_bytes(part.key);
}

std::uint32_t OperationSender::operation_bytes(const TableShard& table, const OperationPart& part) {
  const std::size_t update = update_bytes(table, part);
  return static_cast<std::uint32_t>(sizeof(OperationRecord) +
                                    (part.kind == OperationKind::call ? padded_bytes(update) : update));
}

// Consecutive records often have equal headers. The last header is kept and compared field by field: a header
// just written in pieces is slow to read as a whole.
const FrameHeader& OperationSender::header_of(const TableShard& table, const OperationPart& part,
                                              bool by_home) {
  FrameHeader& header = header_;
  const auto kind = static_cast<std::uint16_t>(frame_kind(part.kind));
  const std::uint16_t flags = by_home ? FrameHeader::kByHome : std::uint16_t{0};
  const std::uint32_t bytes = operation_bytes(table, part);
  if (header.operation != part.operation || header.record_bytes != bytes || header.flags != flags ||
      header.kind != kind || header.table != table.id().value() || header.origin != part.origin.value()) {
    header = {.kind = kind,
              .flags = flags,
              .table = table.id().value(),
              .record_bytes = bytes,
              .origin = part.origin.value(),
              .operation = part.operation};
  }
  return header;
}

void OperationSender::throw_misrouted(const TableShard& table, const OperationPart& part) {
  throw ProtocolError(fmt::format(
      "misrouted: an operation on key {} of table '{}' from rank {} reached a domain that neither has "
      "the key nor is its home",
      part.key.value(), table.name(), part.origin.value()));
}

void OperationSender::send(TableShard& table, const OperationPart& part, const Route& route) {
  std::byte* record =
      outbox_.append(table.serving_rank(part.key, route.to), header_of(table, part, route.by_home));
  if (part.kind == OperationKind::call) {
    write_record(record, CallRecord{part.key.value(), part.item, part.function->number});
  } else {
    write_record(record, OperationRecord{part.key.value(), part.item, part.scale});
  }
  // An argument may be empty.
  if (const std::size_t bytes = update_bytes(table, part); bytes != 0)
    std::memcpy(record + sizeof(OperationRecord), part.value, bytes);
}

void OperationSender::forward_to_home(TableShard& table, const OperationPart& part) {
  // The key is absent now, so this rank routes the operation like one from another rank.
  ++table.counters().forwarded;
  const Route route = router_.route_received(table.view(part.key), false);
  if (route.action != Route::Action::send) throw_misrouted(table, part);
  send(table, part, route);
}

}  // namespace lapse

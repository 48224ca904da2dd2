#include "lapse/protocol/access.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "lapse/protocol/prefetch.hpp"

namespace lapse {

namespace {

FrameHeader operation_header(const TableState& table, const OperationPart& part, bool by_home) {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(part.kind);
  header.flags = by_home ? FrameHeader::kByHome : std::uint16_t{0};
  header.table = table.id.value();
  header.origin = part.origin.value();
  header.operation = part.operation;
  const std::size_t update = part.kind == FrameKind::pull ? 0 : padded_value_bytes(table.value_bytes());
  header.record_bytes = static_cast<std::uint32_t>(sizeof(OperationRecord) + update);
  return header;
}

FrameHeader answer_header(FrameKind kind, const TableState& table, const OperationPart& part,
                          Domain responder) {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.table = table.id.value();
  header.domain = responder.value();
  header.operation = part.operation;
  header.record_bytes = static_cast<std::uint32_t>(
      kind == FrameKind::pull_answer ? sizeof(PullAnswerRecord) + padded_value_bytes(table.value_bytes())
                                     : sizeof(PushAnswerRecord));
  return header;
}

void apply(const TableState& table, const OperationPart& part, std::byte* value) {
  if (part.kind == FrameKind::set) {
    std::memcpy(value, part.value, table.value_bytes());
  } else {
    table.rule.apply(value, part.value, table.store.layout().length);
  }
}

OperationPart part_of(const OperationState& operation, std::uint32_t item, Rank self) {
  OperationPart part;
  part.kind = frame_kind(operation.kind);
  part.origin = self;
  part.operation = operation.number;
  part.key = operation.items[item].key;
  part.item = item;
  if (operation.kind != OperationKind::pull) {
    part.value = operation.payload.data() + item * operation.table->value_bytes();
  }
  return part;
}

}  // namespace

// --- from this rank's workers ---

void Access::handle_submission(Submission& submission) {
  auto& operation = static_cast<OperationState&>(submission);
  // The operation may be finished, and gone, with its last item.
  const auto items = static_cast<std::uint32_t>(operation.items.size());
  for (std::uint32_t item = 0; item < items; ++item) submit_item(operation, item);
}

void Access::submit_item(OperationState& operation, std::uint32_t item) {
  TableState& table = *operation.table;
  UnansweredKey& unanswered = *operation.items[item].unanswered;
  const OperationPart part = part_of(operation, item, context_.self_rank);
  const Route route = context_.router.route_own(table.view(part.key), unanswered.pin);
  if (route.action == Route::Action::hold) {
    unanswered.held.push_back({&operation, item});
    ++held_;
    ++table.counters.held;
    return;
  }
  if (route.action != Route::Action::execute) {
    operation.items[item].under_way = true;
    ++unanswered.pin.unanswered;
    if (route.cached_location) unanswered.pin.cached_entry = route.to;
  }
  const bool pull = part.kind == FrameKind::pull;
  switch (route.action) {
    case Route::Action::execute:
      ++(pull ? table.counters.local_pulls : table.counters.local_pushes);
      break;
    case Route::Action::queue:
      ++table.counters.queued_accesses;
      break;
    default:
      ++(pull ? table.counters.remote_pulls : table.counters.remote_pushes);
      break;
  }
  if (!carry_out(table, part, route)) {
    UnansweredTable::finish(unanswered);
    finish(operation, 1);
  }
}

void Access::finish(OperationState& operation, std::uint32_t items) {
  WorkerEndpoint& worker = *operation.worker;
  worker.unanswered().finish_total(items);
  worker.answered(operation, items);
}

bool Access::carry_out(TableState& table, const OperationPart& part, const Route& route) {
  switch (route.action) {
    case Route::Action::execute:
      execute(table, part);
      return false;
    case Route::Action::queue:
      table.arrivals.queue_operation(table.store.word(part.key).low(), part, table.value_bytes(),
                                     OperationState::Clock::now());
      return true;
    case Route::Action::send:
      send(table, part, route);
      return true;
    case Route::Action::hold:
    case Route::Action::illegal:
      break;
  }
  throw ProtocolError(
      fmt::format("an operation on key {} of table '{}' from rank {} reached a domain that is neither on its "
                  "way nor its end",
                  part.key.value(), table.name, part.origin.value()));
}

void Access::send(TableState& table, const OperationPart& part, const Route& route) {
  std::byte* record = context_.outbox.append(context_.domains.serving_rank(part.key, route.to),
                                             operation_header(table, part, route.by_home));
  const OperationRecord head{part.key.value(), part.item, 0};
  std::memcpy(record, &head, sizeof head);
  if (part.kind != FrameKind::pull) std::memcpy(record + sizeof head, part.value, table.value_bytes());
}

void Access::forward_to_home(TableState& table, const OperationPart& part) {
  // The key is absent now, so whoever decides here decides as for any operation that came from elsewhere.
  ++table.counters.forwarded;
  carry_out(table, part, context_.router.route_received(table.view(part.key), false));
}

// --- execution ---

std::byte* Access::answer_pull(TableState& table, const OperationPart& part) {
  if (part.origin == context_.self_rank) {
    const OperationState& operation = context_.operation(part.operation);
    if (operation.destination == nullptr) return nullptr;
    return operation.destination + operation.items[part.item].position * table.value_bytes();
  }
  std::byte* record = context_.outbox.append(
      part.origin, answer_header(FrameKind::pull_answer, table, part, context_.self_domain));
  const PullAnswerRecord head{part.item, 0};
  std::memcpy(record, &head, sizeof head);
  return record + sizeof head;
}

void Access::answer_push(TableState& table, const OperationPart& part) {
  if (part.origin == context_.self_rank) return;
  std::byte* record = context_.outbox.append(
      part.origin, answer_header(FrameKind::push_answer, table, part, context_.self_domain));
  const PushAnswerRecord head{part.item};
  std::memcpy(record, &head, sizeof head);
}

void Access::execute(TableState& table, const OperationPart& part) {
  bool here = true;
  if (part.kind == FrameKind::pull) {
    std::byte* to = answer_pull(table, part);
    if (to != nullptr) here = table.store.read(part.key, to);
  } else {
    here = table.store.update(part.key, [&](std::byte* value) { apply(table, part, value); });
    answer_push(table, part);
  }
  if (!here)
    throw ProtocolError(
        fmt::format("key {} of table '{}' left during an operation", part.key.value(), table.name));
}

void Access::execute_on_arrival(TableState& table, const OperationPart& part, std::byte* value) {
  const bool own = part.origin == context_.self_rank;
  OperationState* operation = own ? &own_operation(table, part) : nullptr;
  if (part.kind == FrameKind::pull) {
    std::byte* to = answer_pull(table, part);
    if (to != nullptr) std::memcpy(to, value, table.value_bytes());
  } else {
    apply(table, part, value);
    answer_push(table, part);
  }
  if (own) {
    finish_under_way(*operation, part.item, context_.self_domain);
    finish(*operation, 1);
  }
}

// --- messages ---

void Access::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  switch (static_cast<FrameKind>(header.kind)) {
    case FrameKind::pull_answer:
    case FrameKind::push_answer:
      handle_answers(header, records);
      break;
    default:
      handle_operations(header, records);
      break;
  }
}

void Access::handle_operations(const FrameHeader& header, const std::byte* records) {
  TableState& table = context_.table(header.table);
  OperationPart part;
  part.kind = static_cast<FrameKind>(header.kind);
  part.origin = Rank(header.origin);
  part.operation = header.operation;
  const bool by_home = (header.flags & FrameHeader::kByHome) != 0;
  if (header.record_bytes != operation_header(table, part, by_home).record_bytes || header.origin < 0 ||
      header.origin >= context_.domains.ranks()) {
    throw ProtocolError("a message holds operations of a wrong length or of a rank that does not exist");
  }
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    prefetch_ahead(table, header, records, i);
    OperationRecord head;
    std::memcpy(&head, records, sizeof head);
    part.key = ProtocolContext::checked_key(table, head.key);
    part.item = head.item;
    part.value = records + sizeof head;
    const bool own = part.origin == context_.self_rank;
    OperationState* operation = own ? &own_operation(table, part) : nullptr;
    const Route route = context_.router.route_received(table.view(part.key), by_home);
    if (route.action == Route::Action::send) ++table.counters.forwarded;
    // One of our own that came back by the home was counted as under way when it left.
    if (!carry_out(table, part, route) && own) {
      finish_under_way(*operation, part.item, context_.self_domain);
      finish(*operation, 1);
    }
  }
}

void Access::handle_answers(const FrameHeader& header, const std::byte* records) {
  TableState& table = context_.table(header.table);
  OperationState& operation = context_.operation(header.operation);
  const bool pull = static_cast<FrameKind>(header.kind) == FrameKind::pull_answer;
  OperationPart part;
  const FrameHeader expected =
      answer_header(static_cast<FrameKind>(header.kind), table, part, Domain(header.domain));
  const bool of_pull = operation.kind == OperationKind::pull;
  if (header.record_bytes != expected.record_bytes || operation.table != &table || of_pull != pull ||
      header.count > operation.remaining.load(std::memory_order_relaxed) || header.domain < 0 ||
      header.domain >= context_.domains.domains()) {
    throw ProtocolError("an answer does not fit the operation it names");
  }
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    std::uint32_t item;
    std::memcpy(&item, records, sizeof item);
    if (item >= operation.items.size() || !operation.items[item].under_way) {
      throw ProtocolError("an answer names a key that was not asked for");
    }
    if (pull && operation.destination != nullptr) {
      std::memcpy(operation.destination + operation.items[item].position * table.value_bytes(),
                  records + sizeof(PullAnswerRecord), table.value_bytes());
    }
    finish_under_way(operation, item, Domain(header.domain));
  }
  finish(operation, header.count);
}

OperationState& Access::own_operation(const TableState& table, const OperationPart& part) const {
  OperationState& operation = context_.operation(part.operation);
  if (operation.table != &table || frame_kind(operation.kind) != part.kind ||
      part.item >= operation.items.size() || operation.items[part.item].key != part.key ||
      !operation.items[part.item].under_way) {
    throw ProtocolError(
        fmt::format("an operation on key {} of table '{}' came back to rank {}, which does not wait for it",
                    part.key.value(), table.name, context_.self_rank.value()));
  }
  return operation;
}

void Access::finish_under_way(OperationState& operation, std::uint32_t item, Domain responder) {
  TableState& table = *operation.table;
  const Key key = operation.items[item].key;
  UnansweredKey& unanswered = *operation.items[item].unanswered;
  const bool at_home = table.cache.enabled() && table.home_map.home(key) == context_.self_domain;
  if (table.cache.should_remember(responder, context_.self_domain, at_home))
    table.store.set_hint(key, responder);

  operation.items[item].under_way = false;
  Pin& pin = unanswered.pin;
  --pin.unanswered;
  if (pin.unanswered > 0) {
    if (pin.cached_entry && *pin.cached_entry != responder) pin.redirected = true;
    UnansweredTable::finish(unanswered);
    return;
  }
  pin = Pin{};
  if (unanswered.held.empty()) {
    UnansweredTable::finish(unanswered);
    return;
  }
  // The route is free: what was held goes on in program order. The key stays counted by what follows.
  const std::vector<UnansweredKey::Held> held = std::exchange(unanswered.held, {});
  held_ -= held.size();
  UnansweredTable::finish(unanswered);
  for (const UnansweredKey::Held& next : held) submit_item(*next.operation, next.item);
}

}  // namespace lapse

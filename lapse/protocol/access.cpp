#include "lapse/protocol/access.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "lapse/protocol/prefetch.hpp"

namespace lapse {

namespace {

OperationPart part_of(const OperationState& operation, std::uint32_t item, Rank self) {
  OperationPart part;
  part.kind = frame_kind(operation.kind);
  part.origin = self;
  part.operation = operation.number;
  part.key = operation.items[item].key;
  part.item = item;
  part.scale = operation.scale;
  part.function = operation.function;
  if (operation.kind != OperationKind::pull) {
    part.value = operation.payload.data() + operation.items[item].payload_offset * operation.payload_unit;
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

void Access::submit_item(OperationState& operation, std::uint32_t item, bool may_look_up) {
  TableState& table = *operation.table;
  UnansweredKey& unanswered = *operation.items[item].unanswered;
  const OperationPart part = part_of(operation, item, context_.self_rank);
  const bool pull = part.kind == FrameKind::pull;
  const auto decide = [&] {
    KeyView view = table.view(part.key);
    view.may_look_up = may_look_up && table.exposed_owners.has_value();
    return context_.router.route_own(view, unanswered.pin);
  };
  Route route = decide();
  while (route.action == Route::Action::execute) {
    if (execution_.execute(table, part)) {
      ++(pull ? table.counters.local_pulls : table.counters.local_pushes);
      UnansweredTable::finish(unanswered);
      finish(operation, 1);
      return;
    }
    // It has been leased or has gone between the look at its word and the use of its memory.
    route = decide();
  }
  if (route.action == Route::Action::hold || route.action == Route::Action::look_up) {
    hold(operation, item, route);
    return;
  }
  operation.items[item].under_way = true;
  ++unanswered.pin.unanswered;
  if (route.is_entry) unanswered.pin.entry = route.to;
  if (route.action == Route::Action::send) {
    ++(pull ? table.counters.remote_pulls : table.counters.remote_pushes);
    send(table, part, route);
    return;
  }
  if (route.action != Route::Action::queue) throw_astray(table, part);
  ++table.counters.queued_accesses;
  if (execute_or_queue(table, part, route)) {
    finish_under_way(operation, item, table.self_domain());
    finish(operation, 1);
  }
}

void Access::hold(OperationState& operation, std::uint32_t item, const Route& route) {
  UnansweredKey& unanswered = *operation.items[item].unanswered;
  unanswered.held.push_back({&operation, item});
  ++held_;
  if (unanswered.pin.unanswered > 0) ++operation.table->counters.held;
  if (route.action == Route::Action::hold || unanswered.pin.looking_up) return;
  unanswered.pin.looking_up = true;
  lookups_.begin(*operation.table, operation.items[item].key, unanswered);
}

void Access::finish_lookup(const RemoteReads::Finished& read) {
  UnansweredKey& unanswered = lookups_.finish(read);
  unanswered.pin.looking_up = false;
  resume(unanswered, false);
}

void Access::resume(UnansweredKey& unanswered, bool may_look_up) {
  const std::vector<UnansweredKey::Held> held = std::exchange(unanswered.held, {});
  held_ -= held.size();
  for (const UnansweredKey::Held& next : held) submit_item(*next.operation, next.item, may_look_up);
}

void Access::finish(OperationState& operation, std::uint32_t items) {
  WorkerEndpoint& worker = *operation.worker;
  worker.unanswered().finish_total(items);
  worker.answered(operation, items);
}

bool Access::execute_or_queue(TableState& table, const OperationPart& part, const Route& route) {
  for (bool queue = route.action == Route::Action::queue;; queue = true) {
    if (queue) {
      if (const auto place = table.waiting_place(part.key)) {
        table.arrivals.queue_operation(*place, part, Execution::update_bytes(table, part),
                                       OperationState::Clock::now());
        return false;
      }
    }
    if (execution_.execute(table, part)) return true;
  }
}

void Access::throw_astray(const TableState& table, const OperationPart& part) {
  throw ProtocolError(
      fmt::format("an operation on key {} of table '{}' from rank {} reached a domain that is neither on its "
                  "way nor its end",
                  part.key.value(), table.name, part.origin.value()));
}

void Access::send(TableState& table, const OperationPart& part, const Route& route) {
  std::byte* record = context_.outbox.append(table.serving_rank(part.key, route.to),
                                             execution_.operation_header(table, part, route.by_home));
  if (part.kind == FrameKind::call) {
    const CallRecord head{part.key.value(), part.item, part.function->number};
    std::memcpy(record, &head, sizeof head);
  } else {
    const OperationRecord head{part.key.value(), part.item, part.scale};
    std::memcpy(record, &head, sizeof head);
  }
  // An argument may be empty.
  if (const std::size_t bytes = Execution::update_bytes(table, part); bytes != 0)
    std::memcpy(record + sizeof(OperationRecord), part.value, bytes);
}

void Access::forward_to_home(TableState& table, const OperationPart& part) {
  // The key is absent now, so whoever decides here decides as for any operation that came from elsewhere.
  ++table.counters.forwarded;
  const Route route = context_.router.route_received(table.view(part.key), false);
  if (route.action == Route::Action::send) {
    send(table, part, route);
  } else {
    throw_astray(table, part);
  }
}

void Access::execute_waiting(TableState& table, const OperationPart& part, std::byte* content) {
  const bool own = part.origin == context_.self_rank;
  OperationState* operation = own ? &own_operation(table, part) : nullptr;
  execution_.execute_on(table, part, content);
  if (own) {
    finish_under_way(*operation, part.item, table.self_domain());
    finish(*operation, 1);
  }
}

// --- messages ---

void Access::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  switch (static_cast<FrameKind>(header.kind)) {
    case FrameKind::pull_answer:
    case FrameKind::push_answer:
    case FrameKind::call_answer:
    case FrameKind::failed_answer:
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
  if (header.record_bytes < sizeof(OperationRecord) || header.origin < 0 || header.origin >= context_.ranks) {
    throw ProtocolError("a message holds operations of a wrong length or of a rank that does not exist");
  }
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    prefetch_ahead(table, header, records, i);
    OperationRecord head;
    std::memcpy(&head, records, sizeof head);
    part.key = ProtocolContext::checked_key(table, head.key);
    part.item = head.item;
    part.scale = head.scale;
    part.value = records + sizeof head;
    if (part.kind == FrameKind::call) {
      CallRecord call;
      std::memcpy(&call, records, sizeof call);
      part.function = &context_.function(call.function);
    }
    if (header.record_bytes != Execution::operation_bytes(table, part))
      throw ProtocolError("a message holds an operation of a wrong length");
    const bool own = part.origin == context_.self_rank;
    OperationState* operation = own ? &own_operation(table, part) : nullptr;
    const Route route = context_.router.route_received(table.view(part.key), by_home);
    if (route.action == Route::Action::send) {
      ++table.counters.forwarded;
      send(table, part, route);
      continue;
    }
    if (route.action != Route::Action::execute && route.action != Route::Action::queue)
      throw_astray(table, part);
    // One of our own that came back by the home was counted as under way when it left.
    if (execute_or_queue(table, part, route) && own) {
      finish_under_way(*operation, part.item, table.self_domain());
      finish(*operation, 1);
    }
  }
}

namespace {

// The answer that an operation of this kind gets when all goes well.
FrameKind answer_kind(OperationKind kind) {
  switch (kind) {
    case OperationKind::pull:
      return FrameKind::pull_answer;
    case OperationKind::call:
      return FrameKind::call_answer;
    default:
      return FrameKind::push_answer;
  }
}

}  // namespace

void Access::handle_answers(const FrameHeader& header, const std::byte* records) {
  TableState& table = context_.table(header.table);
  OperationState& operation = context_.operation(header.operation);
  const auto kind = static_cast<FrameKind>(header.kind);
  const bool failed = kind == FrameKind::failed_answer;
  if (operation.kind == OperationKind::localize || (!failed && kind != answer_kind(operation.kind)) ||
      operation.table != &table || header.count > operation.remaining.load(std::memory_order_relaxed) ||
      header.domain < 0 || header.domain >= table.domains.domains() ||
      header.record_bytes < (failed ? sizeof(AnswerRecord) + 1 : sizeof(PushAnswerRecord))) {
    throw ProtocolError("an answer does not fit the operation it names");
  }
  OperationPart part;
  part.function = operation.function;
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    std::uint32_t item;
    std::memcpy(&item, records, sizeof item);
    if (item >= operation.items.size() || !operation.items[item].under_way) {
      throw ProtocolError("an answer names a key that was not asked for");
    }
    part.key = operation.items[item].key;
    const Domain responder(header.domain);
    if (failed) {
      take_failure(operation, part.key, header, records + sizeof(AnswerRecord));
    } else if (header.record_bytes != Execution::answer_bytes(kind, table, part)) {
      throw ProtocolError("an answer has a wrong length");
    } else if (std::byte* row = operation.row(operation.items[item]);
               row != nullptr && kind != FrameKind::push_answer) {
      const std::size_t bytes =
          kind == FrameKind::pull_answer ? table.value_bytes(part.key) : operation.function->result_bytes;
      std::memcpy(row, records + sizeof(AnswerRecord), bytes);
    }
    finish_under_way(operation, item, responder);
  }
  finish(operation, header.count);
}

void Access::take_failure(OperationState& operation, Key key, const FrameHeader& header,
                          const std::byte* text) const {
  if (operation.failure) return;
  const auto* characters = reinterpret_cast<const char*>(text);
  const std::size_t length = strnlen(characters, header.record_bytes - sizeof(AnswerRecord));
  operation.failure = std::make_unique<UserCodeFailed>(operation.table->name, key, Rank(header.origin),
                                                       std::string(characters, length));
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
  table.remember_location(key, responder);

  operation.items[item].under_way = false;
  Pin& pin = unanswered.pin;
  --pin.unanswered;
  if (pin.unanswered > 0) {
    if (pin.entry && *pin.entry != responder && Router::redirects(table.view(key), *pin.entry, responder))
      pin.redirected = true;
    UnansweredTable::finish(unanswered);
    return;
  }
  pin = Pin{};
  if (unanswered.held.empty()) {
    UnansweredTable::finish(unanswered);
    return;
  }
  // The route is free: what was held goes on in program order. The key stays counted by what follows.
  UnansweredTable::finish(unanswered);
  resume(unanswered, true);
}

}  // namespace lapse

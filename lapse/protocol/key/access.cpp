#include "lapse/protocol/key/access.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/key/answered_items.hpp"
#include "lapse/protocol/key/key_holder.hpp"
#include "lapse/protocol/key/lease_race.hpp"
#include "lapse/protocol/records/element_records.hpp"
#include "lapse/protocol/records/key_failure_records.hpp"
#include "lapse/protocol/table/prefetch.hpp"

namespace lapse {

namespace {

OperationPart part_of(const OperationState& operation, std::uint32_t item, Rank self) {
  OperationPart part;
  static_cast<ValueOperation&>(part) = static_cast<const ValueOperation&>(operation);
  part.origin = self;
  part.operation = operation.number;
  part.key = operation.items[item].key;
  part.item = item | OperationState::kIndexBit;
  if (operation.kind != OperationKind::pull) part.value = operation.update(operation.items[item]);
  return part;
}

// Whether the versions that the worker requires allow the use of the domain's replica (rule 23).
bool may_use_copy(const OperationState& operation, Key key) {
  const TableShard& table = *operation.table;
  const auto required = operation.worker->required_versions().find(table.id(), key);
  return !required || Version(table.store().copy_version(*table.store().find(key))) >= *required;
}

bool is_of_domain(const TableShard& table, const OperationPart& part) {
  return table.definition().domains.domain_of(part.origin) == table.self_domain();
}

// The kind of operations that a frame carries.
OperationKind operation_kind(FrameKind kind) {
  for (const OperationKind operation : {OperationKind::pull, OperationKind::push, OperationKind::set,
                                        OperationKind::pull_elements, OperationKind::push_elements}) {
    if (kind == frame_kind(operation)) return operation;
  }
  return OperationKind::call;
}

}  // namespace

// --- routing

bool Access::waits_at_replica(TableShard& table, const OperationPart& part) {
  if (table.copies() == nullptr || table.store().word(part.key).role() != Role::replica) return false;
  if (!table.may_use_copy(part)) return true;
  const std::uint32_t arrival = table.copies()->replica(part.key).arrival;
  return arrival != Replica::kNone && !table.arrivals().queue(arrival).empty();
}

bool Access::queue(TableShard& table, const OperationPart& part) {
  const ProtocolModule::Clock::time_point at = now();
  const auto record = table.arrival_record(part.key, at);
  if (!record) return false;
  table.arrivals().queue(*record).push(part, OperationSender::update_bytes(table, part), at);
  return true;
}

// --- from this rank's workers

void Access::handle_submission(Submission& submission) {
  auto& operation = static_cast<OperationState&>(submission);
  piece_ = {};
  if (operation.refused) [[unlikely]]
    return refuse_piece(operation);
  try {
    begin(operation, piece_, operation.items.size());
    if (piece_.in_runs) routes_.add_all(operation.items);
  } catch (const std::bad_alloc&) {
    operation.fail_without_memory(operation.items.front().key, registry_.self());
    return refuse_piece(operation);
  }
  end_piece(operation);
}

void Access::begin_piece(OperationState& operation, std::size_t most) {
  constexpr std::size_t kSentEarly = 4000;  // bytes of a message that is worth sending before the next piece
  if (operation.items.empty()) {
    WorkerEndpoint::begin_build(operation);
  } else {
    outbox_.send_early(kSentEarly);
  }
  begin(operation, {.first_item = operation.items.size()}, most);
}

void Access::begin(OperationState& operation, const Piece& piece, std::size_t most) {
  if (piece.first_item == 0) {
    operation.reordered = false;
    operation.order.clear();
  }
  piece_ = piece;
  operation.worker->routes().begin(operation, most);
  piece_.in_runs = may_run(operation);
  if (piece_.in_runs) routes_.begin(operation, piece_.first_item, most);
}

void Access::part_ways(OperationState& operation) {
  operation.worker->routes().part_ways();
}

bool Access::end_piece(OperationState& operation) {
  // The operation may be finished, and freed, with its last item.
  const TableShard& table = *operation.table;
  const std::size_t items = operation.items.size();
  try {
    if (piece_.in_runs) return send_piece(operation);
    for (std::size_t item = piece_.first_item; item < items; ++item)
      submit_item(operation, static_cast<std::uint32_t>(item));
  } catch (const std::bad_alloc&) {
    // Some keys may have been sent, in a packet that can no longer be cancelled.
    throw OutOfMemory(fmt::format("no memory on rank {} in the middle of sending {} keys of table '{}'",
                                  registry_.self().value(), items - piece_.first_item, table.name()));
  }
  return true;
}

void Access::submit_item(OperationState& operation, std::uint32_t index, bool may_look_up) {
  TableShard& table = *operation.table;
  TableCounters& counters = table.counters();
  OperationState::Item& item = operation.items[index];
  RoutesInFlight& routes = operation.worker->routes();
  Pin alone;
  // A key that is absent is routed like the operation before, without a search for those in flight.
  const bool may_follow = !operation.holdable && router_.routes_runs();
  Pin* known = may_follow ? routes.known_pin(operation, item, alone) : &routes.pin(operation, item, alone);
  const OperationPart part = part_of(operation, index, registry_.self());
  const bool pull = is_read(part.kind);
  // The route is used where the router has written it: a copy of it would be read before it is written
  // completely.
  retry_while_leases_change([&]() LAPSE_REQUIRES(progress_role) {
    KeyView view = table.view(part.key);
    if (known == nullptr && !(view.is_absent() && routes.follows(part.key, Router::route_absent(view))))
      known = &routes.pin(operation, item, alone);
    Pin& pin = known != nullptr ? *known : alone;
    if (view.direct == DirectAccess::copy && !(table.may_use_copy(part) && may_use_copy(operation, part.key)))
      view.direct = DirectAccess::nothing;
    if (may_look_up && operation.holdable && OwnerLookups::are_of_use(view, pin)) {
      hold(operation, index);
      lookups_.begin(table, part.key, *item.pinned);
      return true;
    }
    Route route = router_.route_own(view, pin);
    // This rank is the entry, and relays the operation itself.
    const bool waits = route.action == Route::Action::send && !route.is_entry &&
                       view.handling == Handling::relay && waits_at_replica(table, part);
    if (waits) route.action = Route::Action::queue;
    switch (route.action) {
      case Route::Action::execute:
        if (view.direct == DirectAccess::copy) {
          if (!execution_.execute_on_copy(table, part)) return false;
          ++(pull ? counters.copy_pulls : counters.copy_pushes);
        } else if (!execution_.execute(table, part)) {
          return false;
        }
        ++(pull ? counters.local_pulls : counters.local_pushes);
        AnsweredItems(*this, operation).add_executed(item);
        return true;
      case Route::Action::hold:
        hold(operation, index);
        return true;
      case Route::Action::queue:
        if (!queue(table, part)) return false;
        ++counters.queued_accesses;
        item.sent_to = table.self_domain();
        break;
      case Route::Action::send:
        ++(pull ? counters.remote_pulls : counters.remote_pushes);
        count_remote(operation);
        sender_.send(table, part, route);
        item.sent_to = route.to;
        if (route.to != table.self_domain()) {
          note_access(table, part.key);
          sample_remote(operation, 1, [&](std::uint32_t) { return part.key; });
        }
        break;
      case Route::Action::illegal:
        OperationSender::throw_misrouted(table, part);
    }
    item.set_state(OperationState::ItemState::in_flight);
    item.by_entry = route.is_entry;
    if (item.pinned != nullptr) {
      ++pin.unanswered;
      if (route.is_entry) pin.entry = route.to;
    } else {
      routes.note(part.key, route);
    }
    if (waits) holder_.advance(table, part.key, now());
    return true;
  });
}

void Access::hold(OperationState& operation, std::uint32_t index) {
  OperationState::Item& item = operation.items[index];
  operation.keep_update(item);
  PinnedKey& pinned =
      item.pinned != nullptr ? *item.pinned : operation.worker->routes().keep(operation, item);
  pinned.held.push_back({&operation, index});
  pinned.pin.holds = true;
  ++held_;
  if (pinned.pin.unanswered > 0) ++operation.table->counters().held;
}

void Access::finish_lookup(const RemoteReads::Finished& read) {
  resume(lookups_.finish(read), false);
}

void Access::resume(PinnedKey& pinned, bool may_look_up) {
  const std::vector<PinnedKey::Held> held = std::exchange(pinned.held, {});
  held_ -= held.size();
  pinned.pin.holds = false;
  if (held.empty()) return;
  // An operation may be finished, and its worker's next one use its object, with its last item.
  RoutesInFlight& routes = held.front().operation->worker->routes();
  for (const PinnedKey::Held& next : held) submit_item(*next.operation, next.item, may_look_up);
  routes.release(pinned);
}

void Access::execute_waiting(TableShard& table, const OperationPart& part, std::byte* content) {
  OperationState* const own = own_operation(table, part);
  execution_.execute_on(table, part, content);
  if (own != nullptr) AnsweredItems(*this, *own).add(*own->item_with(part.item), table.self_domain());
}

void Access::end_turn() {
  for (const auto& table : registry_.tables()) {
    AccessedKeys* const accessed = table->accessed();
    if (accessed == nullptr || !accessed->any_new()) continue;
    try {
      wants_->want(table->id(), accessed->take());
    } catch (const std::bad_alloc&) {
      // Without replicas, accesses to these keys leave the domain, as before.
    }
  }
}

// --- messages

void Access::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  switch (static_cast<FrameKind>(header.kind)) {
    case FrameKind::pull_run:
    case FrameKind::push_run:
    case FrameKind::set_run:
      handle_run(from, header, records);
      break;
    case FrameKind::pull_run_answer:
    case FrameKind::push_run_answer:
      handle_run_answers(header, records);
      break;
    case FrameKind::pull_answer:
    case FrameKind::push_answer:
    case FrameKind::call_answer:
    case FrameKind::pull_elements_answer:
    case FrameKind::failed_answer:
      handle_answers(header, records);
      break;
    default:
      handle_operations(header, records);
      break;
  }
}

void Access::handle_operations(const FrameHeader& header, const std::byte* records) {
  TableShard& table = registry_.table(header.table);
  OperationPart part;
  part.kind = operation_kind(static_cast<FrameKind>(header.kind));
  part.origin = Rank(header.origin);
  part.operation = header.operation;
  const bool by_home = (header.flags & FrameHeader::kByHome) != 0;
  if (header.record_bytes < sizeof(OperationRecord) || header.origin < 0 ||
      header.origin >= registry_.ranks()) {
    throw ProtocolError("a message holds operations of a wrong length or of a rank that does not exist");
  }
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    if (is_on_elements(part.kind)) {
      prefetch_elements_ahead(table, header, records, i);
    } else {
      prefetch_ahead(table, header, records, i);
    }
    const auto head = read_record<OperationRecord>(records);
    part.key = Registry::served_key(table, head.key);
    part.item = head.item;
    part.scale = head.scale;
    part.value = records + sizeof head;
    if (part.kind == OperationKind::call) {
      part.function = &registry_.function(read_record<CallRecord>(records).function);
    } else if (is_on_elements(part.kind)) {
      check_elements(table, part, header.record_bytes - sizeof head);
    }
    if (header.record_bytes != OperationSender::operation_bytes(table, part))
      throw ProtocolError("a message holds an operation of a wrong length");
    take(table, part, by_home);
  }
}

void Access::take(TableShard& table, const OperationPart& part, bool by_home) {
  // An operation of this rank that the home has forwarded back has been counted as in flight since it was
  // sent.
  OperationState* const own = own_operation(table, part);
  retry_while_leases_change([&]() LAPSE_REQUIRES(progress_role) {
    const Route route = router_.route_received(table.view(part.key), by_home);
    switch (route.action) {
      case Route::Action::execute:
        if (!execution_.execute(table, part)) return false;
        if (own != nullptr) AnsweredItems(*this, *own).add(*own->item_with(part.item), table.self_domain());
        return true;
      case Route::Action::queue:
        return queue(table, part);
      case Route::Action::send:
        if (is_of_domain(table, part) && waits_at_replica(table, part)) {
          static_cast<void>(queue(table, part));
          holder_.advance(table, part.key, now());
          return true;
        }
        ++table.counters().forwarded;
        sender_.send(table, part, route);
        return true;
      case Route::Action::hold:
      case Route::Action::illegal:
        break;
    }
    OperationSender::throw_misrouted(table, part);
  });
}

OperationState* Access::own_operation(const TableShard& table, const OperationPart& part) const {
  if (part.origin != registry_.self()) return nullptr;
  OperationState& operation = registry_.operation(part.operation);
  const OperationState::Item* const item = operation.item_with(part.item);
  if (operation.table != &table || operation.kind != part.kind || item == nullptr || item->key != part.key ||
      !item->in_flight()) {
    throw ProtocolError(
        fmt::format("an operation on key {} of table '{}' came back to rank {}, which does not wait for it",
                    part.key.value(), table.name(), registry_.self().value()));
  }
  return &operation;
}

}  // namespace lapse

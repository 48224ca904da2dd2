#include "lapse/protocol/relocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lapse/protocol/prefetch.hpp"

namespace lapse {

namespace {

std::uint64_t nanoseconds(OperationState::Clock::duration duration) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

std::uint32_t transfer_bytes(const TableState& table, Key key) {
  return static_cast<std::uint32_t>(sizeof(TransferRecord) + table.content_bytes(key));
}

}  // namespace

// --- requester ---

void Relocation::tell(Waiter waiter, std::uint32_t keys) {
  if (!waiter) return;
  if (OperationState* operation = waiter.local()) {
    operation->worker->answered(*operation, keys);
    return;
  }
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::localize_answer);
  header.operation = waiter.operation();
  context_.outbox.append_record(waiter.rank(), header, PushAnswerRecord{keys});
}

void Relocation::begin(TableState& table, Key key, Waiter waiter, Clock::time_point now) {
  // Whatever has no room for the key says so before anything has changed.
  if (table.store.is_sparse()) table.store.make_number(key);
  table.store.begin_arrival(key, table.arrivals.open(waiter, now));
  const Domain home = table.home_map.home(key);
  if (home == table.self_domain()) {
    relocate(table, key, home, now);
    return;
  }
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::localize);
  header.table = table.id.value();
  header.domain = table.self_domain().value();
  context_.outbox.append_record(table.serving_rank(key, home), header, LocalizeRecord{key.value()});
}

// --- home ---

void Relocation::relocate(TableState& table, Key key, Domain requester, Clock::time_point now) {
  table.ensure_exists(key);
  const auto [old_owner, relocations] = table.ownership.relocate(table.ownership_index(key), requester);
  if (old_owner == requester) {
    throw ProtocolError(fmt::format("domain {} localizes key {} of table '{}', which it owns",
                                    requester.value(), key.value(), table.name));
  }
  if (old_owner == table.self_domain()) {
    instruct(table, key, requester, relocations, now);
    return;
  }
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::instruct);
  header.table = table.id.value();
  header.domain = requester.value();
  context_.outbox.append_record(table.serving_rank(key, old_owner), header,
                                InstructRecord{key.value(), relocations, 0});
}

// --- old owner ---

template <class Fill>
bool Relocation::transfer(TableState& table, Key key, Domain next, std::uint32_t relocations, Fill&& fill) {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::transfer);
  header.table = table.id.value();
  header.record_bytes = transfer_bytes(table, key);
  std::byte* record = context_.outbox.append(table.serving_rank(key, next), header);
  const TransferRecord head{key.value(), relocations, 0};
  std::memcpy(record, &head, sizeof head);
  try {
    if (fill(record + sizeof head)) return true;
  } catch (...) {
    if (table.store.word(key).role() != Role::absent) context_.outbox.cancel();
    throw;
  }
  context_.outbox.cancel();
  return false;
}

void Relocation::instruct(TableState& table, Key key, Domain next, std::uint32_t relocations,
                          Clock::time_point now) {
  SlotWord word = table.store.word(key);
  if (word.role() != Role::owner && word.role() != Role::arriving) {
    throw ProtocolError(
        fmt::format("the home instructs domain {} to hand over key {} of table '{}', which it does not have",
                    table.self_domain().value(), key.value(), table.name));
  }
  // A lease may begin and end while this looks.
  for (;; word = table.store.word(key)) {
    const bool waits = word.role() == Role::arriving || word.leased();
    if (const auto place = waits ? table.waiting_place(key) : std::nullopt) {
      if (const auto* extra = table.arrivals.extra(*place); extra != nullptr && extra->instruct_queued) {
        throw ProtocolError(
            fmt::format("a second INSTRUCT waits for key {} of table '{}'", key.value(), table.name));
      }
      table.arrivals.queue_instruct(*place, next, relocations, now);
      return;
    }
    const auto hand_over = [&](std::byte* to) { return table.store.hand_over(key, to, next); };
    if (transfer(table, key, next, relocations, hand_over)) break;
  }
  ++table.counters.relocations_out;
}

// --- new owner ---

void Relocation::arrive(TableState& table, const TransferRecord& record, const std::byte* content,
                        Clock::time_point now) {
  const Key key(record.key);
  const SlotWord word = table.store.word(key);
  if (word.role() != Role::arriving) {
    throw ProtocolError(fmt::format("key {} of table '{}' came to domain {}, which did not ask for it",
                                    key.value(), table.name, table.self_domain().value()));
  }
  const std::uint32_t arrival = word.low();
  const Slot slot = table.store.allocate_slot(key);
  std::memcpy(table.store.address(slot), content, table.content_bytes(key));
  const std::uint64_t took = nanoseconds(now - table.arrivals.asked(arrival));
  ++table.counters.relocations_in;
  table.counters.relocation_nanoseconds += took;
  table.counters.relocation_max_nanoseconds = std::max(table.counters.relocation_max_nanoseconds, took);
  if (table.arrivals.extra(arrival) == nullptr) {
    const Waiter waiter = table.arrivals.first_waiter(arrival);
    table.store.publish_owner(key, slot);
    table.arrivals.close(arrival);
    tell(waiter);
    return;
  }
  work_off(table, key, arrival, slot, now);
}

// --- queues ---

void Relocation::work_off(TableState& table, Key key, std::uint32_t place, Slot slot, Clock::time_point now) {
  ArrivalTable::Extra& extra = *table.arrivals.extra(place);
  // Working an operation off may queue more behind it (held ones of the same worker).
  for (std::size_t position = 0; position < extra.queue.size(); ++position) {
    const ArrivalTable::Queued queued = extra.queue[position];
    table.counters.waiting_nanoseconds += nanoseconds(now - std::min(now, queued.since));
    switch (queued.kind) {
      case ArrivalTable::Queued::Kind::operation: {
        // The queue, and the update in it, may move while others are appended.
        const OperationPart part = extra.part(position);
        access_.execute_waiting(table, part, table.store.address(slot));
        break;
      }
      case ArrivalTable::Queued::Kind::instruct:
        pass_on(table, key, place, slot, position, now);
        return;
      case ArrivalTable::Queued::Kind::lease:
        extra.drop_front(position + 1);
        settle(table, key, place, slot, extra.queue.empty() ? LeaseState::held : LeaseState::held_and_queued);
        resumed_.push_back({queued.lease, &table, key, true});
        return;
    }
  }
  settle(table, key, place, slot, LeaseState::none);
}

void Relocation::settle(TableState& table, Key key, std::uint32_t place, Slot slot, LeaseState lease) {
  const std::vector<Waiter> waiters = table.arrivals.take_waiters(place);
  if (table.store.word(key).role() == Role::arriving) {
    table.store.publish_owner(key, slot, lease);
  } else {
    table.store.set_lease(key, lease);
  }
  if (lease == LeaseState::held_and_queued) {
    table.lease_queues.insert_or_assign(key.value(), place);
  } else {
    close_place(table, key, place);
  }
  for (const Waiter waiter : waiters) tell(waiter);
}

void Relocation::close_place(TableState& table, Key key, std::uint32_t place) {
  table.lease_queues.erase(key.value());
  table.arrivals.close(place);
}

void Relocation::pass_on(TableState& table, Key key, std::uint32_t place, Slot slot, std::size_t position,
                         Clock::time_point now) {
  ArrivalTable::Extra& extra = *table.arrivals.extra(place);
  const ArrivalTable::Queued instruct = extra.queue[position];
  transfer(table, key, instruct.next, instruct.relocations, [&](std::byte* to) {
    if (table.store.word(key).role() == Role::arriving) {
      std::memcpy(to, table.store.address(slot), table.content_bytes(key));
      table.store.release_slot(key, slot);
      table.store.pass_on(key, instruct.next);
    } else {
      table.store.hand_over_leased(key, to, instruct.next);
    }
    return true;
  });
  ++table.counters.relocations_out;
  for (std::size_t rest = position + 1; rest < extra.queue.size(); ++rest) {
    if (extra.queue[rest].kind == ArrivalTable::Queued::Kind::lease) {
      // Asks for the key once more, like a wish.
      resumed_.push_back({extra.queue[rest].lease, &table, key, false});
    } else {
      access_.forward_to_home(table, extra.part(rest));
    }
  }
  const std::vector<Waiter> waiters = table.arrivals.take_waiters(place);
  const std::vector<Waiter> wishes = std::exchange(extra.wishes, {});
  close_place(table, key, place);
  for (const Waiter waiter : waiters) tell(waiter);
  // Who asked after the INSTRUCT had come wants the key once more; the first wish asks, the others join it.
  for (const Waiter wish : wishes) {
    const SlotWord word = table.store.word(key);
    if (word.role() == Role::arriving) {
      table.arrivals.add_waiter(word.low(), wish);
    } else {
      begin(table, key, wish, now);
    }
  }
}

// --- messages ---

void Relocation::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  TableState& table = context_.table(header.table);
  const auto kind = static_cast<FrameKind>(header.kind);
  const Clock::time_point now = Clock::now();
  const std::uint32_t expected = kind == FrameKind::localize   ? std::uint32_t{sizeof(LocalizeRecord)}
                                 : kind == FrameKind::instruct ? std::uint32_t{sizeof(InstructRecord)}
                                                               : header.record_bytes;
  if (header.record_bytes < sizeof(LocalizeRecord) || header.record_bytes != expected || header.domain < 0 ||
      header.domain >= table.domains.domains()) {
    throw ProtocolError(
        "a message about relocations has a wrong length or names a domain that does not exist");
  }
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    prefetch_ahead(table, header, records, i);
    std::uint64_t number;
    std::memcpy(&number, records, sizeof number);
    const Key key = ProtocolContext::checked_key(table, number);
    if (kind == FrameKind::transfer && header.record_bytes != transfer_bytes(table, key))
      throw ProtocolError("a message hands over a key with a content of a wrong length");
    switch (kind) {
      case FrameKind::localize:
        if (table.home_map.home(key) != table.self_domain()) {
          throw ProtocolError(fmt::format("domain {} is asked for key {} of table '{}' and is not its home",
                                          table.self_domain().value(), number, table.name));
        }
        relocate(table, key, Domain(header.domain), now);
        break;
      case FrameKind::instruct: {
        InstructRecord record;
        std::memcpy(&record, records, sizeof record);
        instruct(table, key, Domain(header.domain), record.relocations, now);
        break;
      }
      default: {
        TransferRecord record;
        std::memcpy(&record, records, sizeof record);
        arrive(table, record, records + sizeof record, now);
        break;
      }
    }
  }
}

}  // namespace lapse

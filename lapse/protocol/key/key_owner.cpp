#include "lapse/protocol/key/key_owner.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/protocol/key/lease_race.hpp"
#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

template <class F>
bool KeyOwner::with_main(TableShard& table, Key key, std::byte* content, F&& f) {
  if (content == nullptr) return table.copies()->keys().write(key, std::forward<F>(f));
  std::forward<F>(f)(content);
  return true;
}

Member& KeyOwner::member(const TableShard& table, Key key, MainCopy* main, Domain domain) const {
  Member* const found = main == nullptr ? nullptr : main->find(domain);
  if (found == nullptr) {
    throw ProtocolError(
        fmt::format("domain {} holds no replica of key {} of table '{}', which domain {} owns",
                    domain.value(), key.value(), table.name(), table.self_domain().value()));
  }
  return *found;
}

void KeyOwner::take(TableShard& table, Key key, const CopyMessage& message, bool by_home,
                    Clock::time_point now) {
  retry_while_leases_change([&]() LAPSE_REQUIRES(progress_role) {
    const Route route = router_.route_received(table.view(key), by_home);
    switch (route.action) {
      case Route::Action::execute:
        return take_at_main(table, key, message, {}, nullptr, now);
      case Route::Action::queue: {
        const auto record = table.arrival_record(key, now);
        // While the message waits here, a sync may be requested and answered without it.
        CopyMessage waiting = message;
        waiting.awaited = true;
        if (record) table.arrivals().queue(*record).push(waiting, now);
        return record.has_value();
      }
      case Route::Action::send:
        messages_.forward_to_home(table, key, message);
        return true;
      case Route::Action::hold:
      case Route::Action::illegal:
        break;
    }
    throw ProtocolError(fmt::format("misrouted: a message about replicas of key {} of table '{}'",
                                    key.value(), table.name()));
  });
}

void KeyOwner::take_drained(TableShard& table, Key key, const CopyMessage& message, Slot slot,
                            Clock::time_point now) {
  static_cast<void>(take_at_main(table, key, message, slot, table.store().address(slot), now));
}

bool KeyOwner::take_at_main(TableShard& table, Key key, const CopyMessage& message, Slot slot,
                            std::byte* content, Clock::time_point now) {
  // The home of a sparse key may get ON for a key that has no value yet. Such a key has no replicas, either.
  if (content == nullptr && message.kind != FrameKind::on && !table.store().word(key).is_owner())
    ReplicaMessages::throw_unexpected(table, key, message.kind == FrameKind::delta ? "DELTA" : "OFF");
  switch (message.kind) {
    case FrameKind::on:
      return take_on(table, key, message.from, slot, content);
    case FrameKind::delta:
      return take_delta(table, key, message, content, now);
    default:
      return take_off(table, key, message, content);
  }
}

bool KeyOwner::open_main(TableShard& table, Key key, std::byte* content) {
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.mains().open(key);
  const bool done = copies.keys().replicate(key, content, [&](std::byte* value) {
    TableCopies::set_main(value, number);
    SlotHead::raise_version(value);
  });
  if (!done) copies.mains().close(number);
  return done;
}

void KeyOwner::close_main(TableShard& table, Key key, std::byte* content) {
  TableCopies& copies = *table.copies();
  const std::uint32_t number = *copies.main_number(key, content);
  refreshes_.close_record(table, number);
  SlotHead::of(content).record = SlotHead::kNoRecord;
  copies.keys().unreplicate(key);
  // A slot without replicas must have no mark: it may be released at any time.
  copies.keys().clear_mark(key);
}

bool KeyOwner::take_on(TableShard& table, Key key, Domain from, Slot slot, std::byte* content) {
  TableCopies& copies = *table.copies();
  if (content == nullptr && table.store().is_sparse()) {
    const auto failure = failure_of(table.name(), key, registry_.self(), [&] {
      progress_role.assert_held();  // Called in place.
      table.ensure_exists(key);
    });
    if (failure) {
      messages_.send_record(table, FrameKind::refuse_copy, key, from);
      return true;
    }
  }
  if (content == nullptr) slot = table.store().word(key).slot();
  std::byte* const value = table.store().address(slot);
  const bool first = SlotHead::of(value).record == SlotHead::kNoRecord;
  if (first && !copies.keys().make_markable(slot)) {
    messages_.send_record(table, FrameKind::refuse_copy, key, from);
    return true;
  }
  if (first && !KeyWants::wants(table, key) && wants_.offers(table, key)) {
    const bool done = copies.keys().replicate(key, content, [&](std::byte* now) {
      TableCopies::set_only_member(now, from);
      SlotHead::raise_version(now);
    });
    if (done) messages_.send_record(table, FrameKind::offer, key, from);
    return done;
  }
  try {
    if (first && !open_main(table, key, content)) return false;
    MainCopy& main = *copies.main(key, value);
    if (main.find(from) != nullptr) {
      throw ProtocolError(fmt::format("domain {} announces key {} of table '{}' a second time", from.value(),
                                      key.value(), table.name()));
    }
    main.add({.domain = from});
  } catch (const std::bad_alloc&) {
    messages_.send_record(table, FrameKind::refuse_copy, key, from);
    return true;
  }
  const std::size_t bytes = table.content_bytes(key);
  std::byte* const record = messages_.outbox().append(
      table.serving_rank(key, from),
      copy_header(FrameKind::snapshot, table, table.self_domain(), sizeof(VersionRecord) + bytes));
  const bool done = with_main(table, key, content, [&](std::byte* now) {
    const VersionRecord head{key.value(), VersionRecord::pack(SlotHead::version_of(now), false)};
    std::memcpy(write_record(record, head), now, bytes);
  });
  if (!done) {
    // A worker has leased the key meanwhile: ON waits for the end of the lease.
    messages_.outbox().cancel();
    if (first) {
      close_main(table, key, value);
    } else {
      copies.main(key, value)->remove(from);
    }
    return false;
  }
  ++table.counters().copies_out;
  return true;
}

bool KeyOwner::merge(TableShard& table, Key key, const CopyMessage& message, std::byte* content) {
  TableCopies& copies = *table.copies();
  const bool done = run_user_code(table.name(), key, registry_.self(), [&] {
    progress_role.assert_held();  // Called in place.
    return with_main(table, key, content, [&](std::byte* value) {
      copies.merger().apply_delta(value, message.delta, table.sizes().length(key));
      SlotHead::raise_version(value);
    });
  });
  if (!done) return false;
  std::byte* const value = content == nullptr ? copies.keys().content(key) : content;
  changed(table, key, value);
  return true;
}

bool KeyOwner::take_delta(TableShard& table, Key key, const CopyMessage& message, std::byte* content,
                          Clock::time_point now) {
  TableCopies& copies = *table.copies();
  std::byte* const value = content == nullptr ? copies.keys().content(key) : content;
  Member& from = member(table, key, copies.main(key, value), message.from);
  if (!merge(table, key, message, content)) return false;
  from.bit = message.bit;
  ++table.counters().deltas_in;
  const std::uint32_t number = *copies.main_number(key, value);
  if (message.awaited && !refreshes_.refresh_in_turn(table, number, from, content))
    refreshes_.refresh_after_lease(table, number, now);
  return true;
}

bool KeyOwner::take_off(TableShard& table, Key key, const CopyMessage& message, std::byte* content) {
  TableCopies& copies = *table.copies();
  std::byte* const value = content == nullptr ? copies.keys().content(key) : content;
  member(table, key, copies.main(key, value), message.from);
  if (message.delta_bytes != 0 && !merge(table, key, message, content)) return false;
  // Without a delta, the lease is checked here, before anything is changed.
  if (message.delta_bytes == 0 && content == nullptr && table.store().word(key).leased()) return false;
  MainCopy& main = *copies.main(key, value);
  main.remove(message.from);
  messages_.send_record(table, FrameKind::acknowledge, key, message.from);
  if (main.size() == 0) {
    close_main(table, key, value);
  } else {
    check(table, key, value);
  }
  return true;
}

void KeyOwner::check(TableShard& table, Key key, std::byte* content) {
  // Also if a lease has begun: this rank does not always see its end, and the offer waits for it.
  if (content == nullptr) content = table.copies()->keys().content(key);
  MainCopy* const main = table.copies()->main(key, content);
  if (main == nullptr || main->size() != 1 || KeyWants::wants(table, key)) return;
  if (!wants_.offers(table, key)) return;
  messages_.send_record(table, FrameKind::offer, key, main->members().front().domain, FrameHeader::kToMember);
}

void KeyOwner::changed(TableShard& table, Key key, std::byte* content) {
  TableCopies& copies = *table.copies();
  const auto number = copies.main_number(key, content);
  if (!number) return;
  copies.mains().at(*number).mark_all();
  copies.mains().list(*number);
}

void KeyOwner::lease_ended(TableShard& table, Key key, std::byte* content) {
  if (!TableCopies::has_members(content)) return;
  SlotHead::raise_version(content);
  changed(table, key, content);
}

}  // namespace lapse

// KeyReplication: the side of the owner.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/protocol/key/key_replication.hpp"
#include "lapse/protocol/key/lease_race.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

template <class F>
bool KeyReplication::with_main(TableShard& table, Key key, std::byte* content, F&& f) {
  if (content == nullptr) return table.copies()->keys().write(key, std::forward<F>(f));
  std::forward<F>(f)(content);
  return true;
}

Member& KeyReplication::member(const TableShard& table, Key key, MainCopy* main, Domain domain) const {
  Member* const found = main == nullptr ? nullptr : main->find(domain);
  if (found == nullptr) {
    throw ProtocolError(fmt::format("domain {} holds no copy of key {} of table '{}', which domain {} owns",
                                    domain.value(), key.value(), table.name(), table.self_domain().value()));
  }
  return *found;
}

// --- messages of holders

void KeyReplication::take(TableShard& table, Key key, const CopyMessage& message, bool by_home,
                          Clock::time_point now) {
  retry_while_leases_change([&]() LAPSE_REQUIRES(progress_role) {
    const Route route = router_.route_received(table.view(key), by_home);
    switch (route.action) {
      case Route::Action::execute:
        return take_at_main(table, key, message, {}, nullptr);
      case Route::Action::queue: {
        const auto record = table.arrival_record(key);
        // A sync may ask while it waits here, and be answered without it.
        CopyMessage waiting = message;
        waiting.awaited = true;
        if (record) table.arrivals().queue(*record).push(waiting, now);
        return record.has_value();
      }
      case Route::Action::send:
        forward_to_home(table, key, message);
        return true;
      case Route::Action::hold:
      case Route::Action::look_up:
      case Route::Action::illegal:
        break;
    }
    throw ProtocolError(
        fmt::format("misrouted: a message about copies of key {} of table '{}'", key.value(), table.name()));
  });
}

void KeyReplication::take_drained(TableShard& table, Key key, const CopyMessage& message, Slot slot) {
  static_cast<void>(take_at_main(table, key, message, slot, table.store().address(slot)));
}

bool KeyReplication::take_at_main(TableShard& table, Key key, const CopyMessage& message, Slot slot,
                                  std::byte* content) {
  // The home of a sparse key may be asked about one that has no value yet: it has no copies, either.
  if (content == nullptr && message.kind != FrameKind::on && !table.store().word(key).is_owner())
    throw_unexpected(table, key, message.kind == FrameKind::delta ? "DELTA" : "OFF");
  switch (message.kind) {
    case FrameKind::on:
      return take_on(table, key, message.from, slot, content);
    case FrameKind::delta:
      return take_delta(table, key, message, content);
    default:
      return take_off(table, key, message, content);
  }
}

bool KeyReplication::open_main(TableShard& table, Key key, std::byte* content) {
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.mains().open(key);
  const bool done = copies.keys().replicate(key, content, [&](std::byte* value) {
    TableCopies::set_main(value, number);
    SlotHead::raise_version(value);
  });
  if (!done) copies.mains().close(number);
  return done;
}

void KeyReplication::close_record(TableShard& table, std::uint32_t number) {
  // The number may be used again: a backlog that had it would look at another main copy, in vain.
  backlog_.remove(table.id(), number);
  table.copies()->mains().close(number);
}

void KeyReplication::close_main(TableShard& table, Key key, std::byte* content) {
  TableCopies& copies = *table.copies();
  const std::uint32_t number = *copies.main_number(key, content);
  close_record(table, number);
  SlotHead::of(content).record = SlotHead::kNoRecord;
  copies.keys().unreplicate(key);
  // A slot without copies must have no mark: it may be released at any time.
  copies.keys().clear_mark(key);
}

bool KeyReplication::take_on(TableShard& table, Key key, Domain from, Slot slot, std::byte* content) {
  TableCopies& copies = *table.copies();
  if (content == nullptr && table.store().is_sparse()) {
    const auto failure = failure_of(table.name(), key, registry_.self(), [&] {
      progress_role.assert_held();  // Called in place.
      table.ensure_exists(key);
    });
    if (failure) {
      send_record(table, FrameKind::refuse_copy, key, from);
      return true;
    }
  }
  if (content == nullptr) slot = table.store().word(key).slot();
  std::byte* const value = table.store().address(slot);
  const bool first = SlotHead::of(value).record == SlotHead::kNoRecord;
  if (first && !copies.keys().make_markable(slot)) {
    send_record(table, FrameKind::refuse_copy, key, from);
    return true;
  }
  if (first && !wants(table, key) && offers(table, key, ManagementPolicy::Change::joined)) {
    const bool done = copies.keys().replicate(key, content, [&](std::byte* now) {
      TableCopies::set_only_member(now, from);
      SlotHead::raise_version(now);
    });
    if (done) send_record(table, FrameKind::offer, key, from);
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
    send_record(table, FrameKind::refuse_copy, key, from);
    return true;
  }
  const std::size_t bytes = table.content_bytes(key);
  std::byte* const record = outbox_.append(
      table.serving_rank(key, from),
      copy_header(FrameKind::snapshot, table, table.self_domain(), sizeof(VersionRecord) + bytes));
  const bool done = with_main(table, key, content, [&](std::byte* now) {
    const VersionRecord head{key.value(), VersionRecord::pack(SlotHead::version_of(now), false)};
    std::memcpy(record, &head, sizeof head);
    std::memcpy(record + sizeof head, now, bytes);
  });
  if (!done) {
    // A worker has leased the key meanwhile: ON waits for the end of the lease.
    outbox_.cancel();
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

bool KeyReplication::merge(TableShard& table, Key key, const CopyMessage& message, std::byte* content) {
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

bool KeyReplication::take_delta(TableShard& table, Key key, const CopyMessage& message, std::byte* content) {
  TableCopies& copies = *table.copies();
  std::byte* const value = content == nullptr ? copies.keys().content(key) : content;
  Member& from = member(table, key, copies.main(key, value), message.from);
  if (!merge(table, key, message, content)) return false;
  from.bit = message.bit;
  ++table.counters().deltas_in;
  const std::uint32_t number = *copies.main_number(key, value);
  if (message.awaited && !refresh_in_turn(table, number, from, content)) refresh_after_lease(table, number);
  return true;
}

bool KeyReplication::take_off(TableShard& table, Key key, const CopyMessage& message, std::byte* content) {
  TableCopies& copies = *table.copies();
  std::byte* const value = content == nullptr ? copies.keys().content(key) : content;
  member(table, key, copies.main(key, value), message.from);
  if (message.delta_bytes != 0 && !merge(table, key, message, content)) return false;
  // Without a delta the lease is tested here, before anything has changed.
  if (message.delta_bytes == 0 && content == nullptr && table.store().word(key).leased()) return false;
  MainCopy& main = *copies.main(key, value);
  main.remove(message.from);
  send_record(table, FrameKind::acknowledge, key, message.from);
  if (main.size() == 0) {
    close_main(table, key, value);
  } else {
    check(table, key, value);
  }
  return true;
}

void KeyReplication::check(TableShard& table, Key key, std::byte* content) {
  // Also where a lease has begun: its end is not always seen here, and the offer waits for it.
  if (content == nullptr) content = table.copies()->keys().content(key);
  MainCopy* const main = table.copies()->main(key, content);
  if (main == nullptr || main->size() != 1 || wants(table, key)) return;
  if (!offers(table, key, ManagementPolicy::Change::dropped)) return;
  send_record(table, FrameKind::offer, key, main->members().front().domain, FrameHeader::kToMember);
}

void KeyReplication::changed(TableShard& table, Key key, std::byte* content) {
  TableCopies& copies = *table.copies();
  const auto number = copies.main_number(key, content);
  if (!number) return;
  copies.mains().at(*number).mark_all();
  copies.mains().list(*number);
}

void KeyReplication::lease_ended(TableShard& table, Key key, std::byte* content) {
  if (!TableCopies::has_members(content)) return;
  SlotHead::raise_version(content);
  changed(table, key, content);
}

// --- rounds

bool KeyReplication::send_refresh(TableShard& table, const MainCopy& main, Member& to, std::byte* content,
                                  bool later) {
  TableCopies& copies = *table.copies();
  const Key key = main.key();
  const std::size_t bytes = sizeof(VersionRecord) + table.content_bytes(key);
  const Rank rank = table.serving_rank(key, to.domain);
  RefreshBacklog::Parked parked{copy_header(FrameKind::refresh, table, table.self_domain(), bytes), {}};
  parked.header.operation = refreshes_.epoch(rank);
  if (later) parked.record.resize(bytes);
  std::byte* const record = later ? parked.record.data() : outbox_.append(rank, parked.header);
  const auto fill = [&](const std::byte* value) {
    const VersionRecord head{key.value(), VersionRecord::pack(SlotHead::version_of(value), to.bit)};
    std::memcpy(record, &head, sizeof head);
    std::memcpy(record + sizeof head, value, bytes - sizeof head);
  };
  if (content != nullptr) {
    fill(content);
  } else if (!copies.keys().inspect(key, fill)) {
    if (!later) outbox_.cancel();
    return false;
  }
  if (!later) {
    credits_.add_sent(rank, bytes);
    refreshes_.add_sent(rank);
  } else if (backlog_.park(rank, key, std::move(parked))) {
    refreshes_.add_sent(rank);
  } else {
    --table.counters().refreshes_out;  // The earlier one is not sent.
  }
  to.dirty = false;
  ++table.counters().refreshes_out;
  return true;
}

void KeyReplication::send_refreshes(TableShard& table, std::uint32_t number) {
  TableCopies& copies = *table.copies();
  MainCopy& main = copies.mains().at(number);
  for (Member& to : main.members()) {
    // Its lease may take long; its end lists the key again.
    if (to.dirty && !refresh_in_turn(table, number, to, nullptr)) return copies.mains().list(number);
  }
}

bool KeyReplication::refresh_in_turn(TableShard& table, std::uint32_t number, Member& to,
                                     std::byte* content) {
  const MainCopy& main = table.copies()->mains().at(number);
  const Rank rank = table.serving_rank(main.key(), to.domain);
  if (credits_.has(rank) && !backlog_.has_mains(rank)) return send_refresh(table, main, to, content);
  backlog_.add(rank, table.id(), number);
  return true;
}

bool KeyReplication::send_last_refreshes(TableShard& table, std::uint32_t number, Domain next,
                                         std::byte* content) {
  MainCopy& main = table.copies()->mains().at(number);
  for (Member& to : main.members()) {
    if (!to.dirty || to.domain == next) continue;
    const bool later = !credits_.has(table.serving_rank(main.key(), to.domain));
    if (!send_refresh(table, main, to, content, later)) {
      table.copies()->mains().list(number);
      return false;
    }
  }
  return true;
}

void KeyReplication::refresh_after_lease(TableShard& table, std::uint32_t number) {
  MainCopies& mains = table.copies()->mains();
  mains.list(number);
  // Where the lease has ended meanwhile, in memory, there is nothing to wait for.
  if (!table.arrival_record(mains.at(number).key())) send_refreshes(table, number);
}

void KeyReplication::lease_over(TableShard& table, Key key) {
  TableCopies& copies = *table.copies();
  if (const auto number = copies.main_number(key, copies.keys().content(key))) send_refreshes(table, *number);
}

bool KeyReplication::is_owed(const TableShard& table, const MainCopy& main, Rank to) {
  return std::ranges::any_of(main.members(), [&](const Member& member) {
    return member.dirty && table.serving_rank(main.key(), member.domain) == to;
  });
}

void KeyReplication::send_backlog() {
  if (backlog_.empty()) return;
  for (std::int32_t index = 0; index < registry_.ranks(); ++index) {
    const Rank rank(index);
    while (backlog_.has_parked(rank) && credits_.has(rank)) {
      const RefreshBacklog::Parked parked = backlog_.take_parked(rank);
      std::memcpy(outbox_.append(rank, parked.header), parked.record.data(), parked.record.size());
      credits_.add_sent(rank, parked.record.size());
    }
    while (credits_.has(rank)) {
      const std::optional<RefreshBacklog::Main> next = backlog_.take(rank);
      if (!next) break;
      TableShard& table = registry_.table(next->table.value());
      MainCopies& mains = table.copies()->mains();
      MainCopy& main = mains.at(next->number);
      for (Member& to : main.members()) {
        if (to.dirty && table.serving_rank(main.key(), to.domain) == rank &&
            !send_refresh(table, main, to, nullptr))
          refresh_after_lease(table, next->number);
      }
    }
  }
}

}  // namespace lapse

#include "lapse/protocol/key/key_transfer.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/protocol/records/relocation_records.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

KeyTransfer::Leaving KeyTransfer::begin_leaving(TableShard& table, Key key,
                                                const KeyQueue::Instruct& instruct, std::byte* content,
                                                Slot slot, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  Leaving leaving;
  leaving.main = copies.main_number(key, content);
  if (KeyWants::wants(table, key) && !wants_.keeps(table, key)) {
    copies.refuse(key);
  } else if (KeyWants::wants(table, key)) {
    Replica replica{.key = key, .slot = slot.number, .owner = instruct.next, .refreshed = now};
    if (table.has_room_for_wanted() && KeyCopies::is_shared(slot) && copies.keys().make_markable(slot))
      leaving.replica = copies.try_open(replica);
    if (!leaving.replica) KeyWants::decline(table, key);
  }
  std::size_t others = 0;
  if (leaving.main) {
    MainCopy& main = copies.mains().at(*leaving.main);
    others = main.size() - (main.find(instruct.next) != nullptr ? 1 : 0);
  }
  leaving.members = others + (leaving.replica ? 1 : 0);
  leaving.raises = leaving.replica && others == 0;
  const std::size_t moved = table.sizes().moved_bytes(key);
  const std::size_t with_members = padded_bytes(moved) + leaving.members * sizeof(MemberRecord);
  const FrameHeader header = leaving.members == 0
                                 ? transfer_header(table, moved)
                                 : transfer_header(table, with_members, FrameKind::transfer_with_members);
  leaving.record = outbox_.append(table.serving_rank(key, instruct.next), header);
  return leaving;
}

void KeyTransfer::leave(TableShard& table, Key key, const KeyQueue::Instruct& instruct,
                        const Leaving& leaving, std::byte* content) {
  TableCopies& copies = *table.copies();
  if (leaving.raises) SlotHead::raise_version(content);
  const TransferRecord head{.key = key.value(),
                            .relocations = instruct.relocations,
                            .members = static_cast<std::uint32_t>(leaving.members)};
  std::byte* to = write_record(leaving.record, head);
  const std::size_t moved = table.sizes().moved_bytes(key);
  std::memcpy(to, content - table.sizes().layout().head_bytes(), moved);
  to += padded_bytes(moved);
  const auto add = [&](const Member& member) {
    const MemberRecord record{member.domain.value(), static_cast<std::uint16_t>(member.dirty ? 1 : 0),
                              static_cast<std::uint16_t>(member.bit ? 1 : 0)};
    to = write_record(to, record);
  };
  if (leaving.main) {
    for (const Member& member : copies.mains().at(*leaving.main).members()) {
      if (member.domain != instruct.next) add(member);
    }
  }
  if (!leaving.replica) {
    SlotHead::of(content).record = SlotHead::kNoRecord;
    return;
  }
  add({.domain = table.self_domain()});
  const std::uint32_t base = copies.replicas().at(*leaving.replica).base;
  copies.merger().begin(content, copies.base(base), table.sizes().length(key));
  SlotHead::of(content).record = *leaving.replica;
}

void KeyTransfer::finish_leaving(TableShard& table, const Leaving& leaving) {
  if (leaving.main) refreshes_.close_record(table, *leaving.main);
  ++table.counters().relocations_out;
  if (leaving.replica) ++table.counters().copies_in;
}

void KeyTransfer::cancel_leaving(TableShard& table, const Leaving& leaving) {
  outbox_.cancel();
  if (!leaving.replica) return;
  TableCopies& copies = *table.copies();
  copies.release_room(copies.replicas().at(*leaving.replica), false);
  copies.replicas().close(*leaving.replica);
}

bool KeyTransfer::give_up(TableShard& table, Key key, const KeyQueue::Instruct& instruct,
                          Clock::time_point now) {
  TableCopies& copies = *table.copies();
  for (;;) {
    const Slot slot = table.store().word(key).slot();
    std::byte* const content = table.store().address(slot);
    if (const auto main = copies.main_number(key, content)) {
      if (copies.keys().take_mark(slot)) copies.mains().at(*main).mark_all();
      if (!refreshes_.send_last_refreshes(table, *main, instruct.next, nullptr)) return false;
    }
    const Leaving leaving = begin_leaving(table, key, instruct, content, slot, now);
    const auto fill = [&](std::byte* value) {
      progress_role.assert_held();  // Called in place.
      // A worker may have written since: its change must reach the holders first.
      if (leaving.main && copies.keys().is_marked(slot)) return false;
      leave(table, key, instruct, leaving, value);
      return true;
    };
    const KeyCopies::Result result = leaving.replica ? copies.keys().keep_copy(key, fill)
                                                     : copies.keys().pass_on(key, instruct.next, fill);
    if (result == KeyCopies::Result::done) {
      finish_leaving(table, leaving);
      return true;
    }
    cancel_leaving(table, leaving);
    if (result == KeyCopies::Result::leased) return false;
  }
}

void KeyTransfer::give_up_drained(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Slot slot,
                                  Clock::time_point now) {
  TableCopies& copies = *table.copies();
  std::byte* const content = table.store().address(slot);
  if (const auto main = copies.main_number(key, content))
    static_cast<void>(refreshes_.send_last_refreshes(table, *main, instruct.next, content));
  const Leaving leaving = begin_leaving(table, key, instruct, content, slot, now);
  leave(table, key, instruct, leaving, content);
  const bool leased = table.store().word(key).leased();
  if (leaving.replica) {
    if (leased) {
      copies.keys().keep_copy_leased(key);
    } else {
      copies.keys().show(key, slot, RoleEvent::keep_copy);
    }
  } else if (leased) {
    copies.keys().pass_on_leased(key, instruct.next);
  } else {
    table.store().pass_on(key, instruct.next);
    copies.keys().take_mark(slot);
    table.store().release_slot(key, slot);
  }
  finish_leaving(table, leaving);
}

Slot KeyTransfer::arrive(TableShard& table, Key key, const std::byte* moved,
                         std::span<const MemberRecord> members) {
  TableCopies& copies = *table.copies();
  const std::size_t head_bytes = table.sizes().layout().head_bytes();
  const SlotWord word = table.store().word(key);
  Slot slot;
  bool changed = false;
  if (word.role() == Role::upgrading) {
    const std::uint32_t number = copies.replica_number(key);
    Replica& replica = copies.replicas().at(number);
    slot = word.slot();
    const auto head = read_record<SlotHead>(moved);
    run_user_code(table.name(), key, registry_.self(), [&] {
      copies.keys().merge(key, replica.arrival, [&](std::byte* content) {
        changed = copies.merger().absorb(content, copies.base(replica.base), moved + head_bytes,
                                         table.sizes().length(key));
        SlotHead::set_version(content, head.version);
      });
    });
    copies.keys().take_mark(slot);
    copies.release_room(replica, false);
    copies.replicas().close(number);
  } else {
    slot = table.store().arrival_slot(key, table.arrivals().prepared(word.low()));
    std::memcpy(table.store().address(slot) - head_bytes, moved, table.sizes().moved_bytes(key));
    if (members.empty()) {
      copies.sole_wants().count_alone(1);
    } else {
      copies.sole_wants().count_shared();
    }
  }
  std::byte* const content = table.store().address(slot);
  SlotHead::of(content).pushes = 0;
  SlotHead::of(content).record = SlotHead::kNoRecord;
  if (members.empty()) return slot;
  if (!copies.keys().make_markable(slot)) {
    throw OutOfMemory(fmt::format("no memory on rank {} for the mark of key {} of table '{}'",
                                  registry_.self().value(), key.value(), table.name()));
  }
  const std::uint32_t number = copies.mains().open(key);
  TableCopies::set_main(content, number);
  bool dirty = changed;
  for (const MemberRecord& record : members) {
    copies.mains().at(number).add({Domain(record.domain), record.dirty != 0, record.bit != 0});
    dirty = dirty || record.dirty != 0;
  }
  if (changed) {
    SlotHead::raise_version(content);
    copies.mains().at(number).mark_all();
  }
  if (dirty) copies.mains().list(number);
  return slot;
}

}  // namespace lapse

#include "lapse/protocol/key/key_relocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lapse/protocol/key/lease_race.hpp"
#include "lapse/protocol/records/key_failure_records.hpp"
#include "lapse/protocol/records/relocation_requests.hpp"
#include "lapse/protocol/table/arrival_counts.hpp"

namespace lapse {

namespace {

std::uint64_t nanoseconds(std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(duration.count());
}

// True if the key is in flight to this domain; false if the key is local and its lease is ending.
bool is_arriving(const TableShard& table, Key key) {
  return acquisition(table.store().word(key).role()) == Acquisition::join;
}

}  // namespace

// --- requester

bool KeyRelocation::localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now) {
  const SlotWord word = table.store().word(key);
  switch (acquisition(word.role())) {
    case Acquisition::here:
      return true;
    case Acquisition::join:
      table.arrivals().add_waiter(*table.arrival_record(key, now), waiter);
      return false;
    case Acquisition::remember:
      replication_.holder.localize(table, key, waiter, now);
      return false;
    case Acquisition::begin:
      break;
  }
  if (table.is_uninitialized(key)) return true;
  if (const auto failure = begin(table, key, waiter, now)) answers_.fail(waiter, table, *failure);
  return false;
}

void KeyRelocation::localize_for(TableShard& table, Key key, Waiter waiter, Clock::time_point now) {
  if (localize(table, key, waiter, now)) answers_.notify(waiter);
}

std::unique_ptr<KeyFailure> KeyRelocation::begin(TableShard& table, Key key, Waiter waiter,
                                                 Clock::time_point now) {
  Slot slot;
  std::unique_ptr<KeyFailure> failure = failure_of(table.name(), key, registry_.self(), [&] {
    progress_role.assert_held();  // Called in place.
    slot = table.store().prepare_arrival(key);
  });
  if (failure) return failure;
  table.store().begin_arrival(key, table.arrivals().open(waiter, now, slot));
  request(table, key, now);
  return failure;
}

void KeyRelocation::request(TableShard& table, Key key, Clock::time_point now) {
  const Domain home = table.definition().homes.home(key);
  if (home == table.self_domain()) {
    // The key exists, because it has left its home.
    instruct_owner(table, key, home, table.relocate(key, home), now);
    return;
  }
  outbox_.append_record(table.serving_rank(key, home),
                        relocation_header(FrameKind::localize, table, table.self_domain()),
                        LocalizeRecord{key.value()});
}

// --- home

void KeyRelocation::take_localize(TableShard& table, Key key, Domain requester, Clock::time_point now) {
  OwnershipTable::Change change;
  const auto failure = failure_of(table.name(), key, registry_.self(), [&] {
    progress_role.assert_held();  // Called in place.
    table.ensure_exists(key);
    change = table.relocate(key, requester);
  });
  if (!failure) {
    instruct_owner(table, key, requester, change, now);
    return;
  }
  append_failure(outbox_, table.serving_rank(key, requester),
                 relocation_header(FrameKind::refuse, table, table.self_domain()),
                 KeyFailureRecord{key.value()}, *failure);
}

void KeyRelocation::instruct_owner(TableShard& table, Key key, Domain requester,
                                   OwnershipTable::Change change, Clock::time_point now) {
  const auto [old_owner, relocations] = change;
  check_requester(table, key, requester, old_owner);
  if (old_owner == table.self_domain()) {
    instruct(table, key, {requester, relocations}, now);
    return;
  }
  outbox_.append_record(table.serving_rank(key, old_owner),
                        relocation_header(FrameKind::instruct, table, requester),
                        InstructRecord{.key = key.value(), .relocations = relocations});
}

// --- old owner

template <class Fill>
bool KeyRelocation::transfer(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Fill&& fill) {
  std::byte* record = outbox_.append(table.serving_rank(key, instruct.next),
                                     transfer_header(table, table.sizes().moved_bytes(key)));
  record = write_record(record, TransferRecord{.key = key.value(), .relocations = instruct.relocations});
  try {
    if (fill(record)) {
      ++table.counters().relocations_out;
      return true;
    }
  } catch (...) {
    if (acquisition(table.store().word(key).role()) != Acquisition::begin) outbox_.cancel();
    throw;
  }
  outbox_.cancel();
  return false;
}

void KeyRelocation::instruct(TableShard& table, Key key, const KeyQueue::Instruct& instruct,
                             Clock::time_point now) {
  retry_while_leases_change([&]() LAPSE_REQUIRES(progress_role) {
    const SlotWord word = table.store().word(key);
    switch (instruction(word.role(), word.leased())) {
      case Instruction::transfer:
        if (table.copies() != nullptr) return replication_.transfer.give_up(table, key, instruct, now);
        return transfer(table, key, instruct, [&](std::byte* to) {
          return table.store().transfer_ownership(key, to, instruct.next);
        });
      case Instruction::queue: {
        const auto record = table.arrival_record(key, now);
        if (!record) return false;
        if (table.arrivals().holds_instruct(*record)) {
          throw ProtocolError(
              fmt::format("a second INSTRUCT waits for key {} of table '{}'", key.value(), table.name()));
        }
        table.arrivals().queue(*record).push(instruct, now);
        return true;
      }
      case Instruction::illegal:
        break;
    }
    throw ProtocolError(fmt::format(
        "the home instructs domain {} to transfer ownership of key {} of table '{}', which it does not have",
        table.self_domain().value(), key.value(), table.name()));
  });
}

// --- new owner

void KeyRelocation::arrive(TableShard& table, const TransferRecord& record, const std::byte* moved,
                           Clock::time_point now) {
  const Key key(record.key);
  if (acquisition(table.store().word(key).role()) != Acquisition::join) {
    throw ProtocolError(fmt::format("key {} of table '{}' came to domain {}, which did not ask for it",
                                    key.value(), table.name(), table.self_domain().value()));
  }
  const std::uint32_t arrival = *table.arrival_record(key, now);
  Slot slot;
  if (table.copies() != nullptr) {
    const std::byte* const members = moved + padded_bytes(table.sizes().moved_bytes(key));
    slot = replication_.transfer.arrive(table, key, moved,
                                        {reinterpret_cast<const MemberRecord*>(members), record.members});
  } else {
    slot = table.store().arrival_slot(key, table.arrivals().prepared(arrival));
    std::memcpy(table.store().address(slot), moved, table.content_bytes(key));
  }
  count_arrival(table.counters(), now - table.arrivals().asked(arrival));
  if (!table.arrivals().is_plain(arrival) || record.members > 0) {
    drain(table, key, arrival, slot, now);
    return;
  }
  const Waiter waiter = table.arrivals().first_waiter(arrival);
  table.store().publish_owner(key, slot);
  table.arrivals().close(arrival);
  answers_.notify(waiter);
}

// --- queues

class KeyRelocation::Drain {
 public:
  // `refusal`: the reason why no value arrives in `slot`; null if one has arrived.
  Drain(KeyRelocation& relocation, TableShard& table, Key key, Slot slot, Clock::time_point now,
        const KeyFailure* refusal = nullptr)
      : relocation_(relocation), table_(table), key_(key), slot_(slot), now_(now), refusal_(refusal) {}

  void waited(Clock::time_point since) LAPSE_REQUIRES(progress_role) {
    table_.counters().waiting_nanoseconds += nanoseconds(now_ - std::min(now_, since));
  }
  void execute(const OperationPart& part) LAPSE_REQUIRES(progress_role) {
    std::byte* const content = table_.store().address(slot_);
    relocation_.access_.execute_waiting(table_, part, content);
    if (table_.copies() != nullptr && !is_read(part.kind)) KeyOwner::changed(table_, key_, content);
  }
  void take(const KeyQueue::CopyMessage& message) LAPSE_REQUIRES(progress_role) {
    relocation_.replication_.owner.take_drained(table_, key_, message, slot_, now_);
  }
  void grant(const LeaseAsker& asker) LAPSE_REQUIRES(progress_role) {
    relocation_.lease_turns_.granted(asker, table_, key_);
  }
  void transfer(const KeyQueue::Instruct& instruct) LAPSE_REQUIRES(progress_role) {
    if (table_.copies() != nullptr)
      return relocation_.replication_.transfer.give_up_drained(table_, key_, instruct, slot_, now_);
    relocation_.transfer(table_, key_, instruct, [&](std::byte* to) {
      if (is_arriving(table_, key_)) {
        std::memcpy(to, table_.store().address(slot_), table_.content_bytes(key_));
        table_.store().release_slot(key_, slot_);
        table_.store().pass_on(key_, instruct.next);
      } else {
        table_.store().transfer_leased_ownership(key_, to, instruct.next);
      }
      return true;
    });
  }
  void forward(const OperationPart& part) LAPSE_REQUIRES(progress_role) {
    relocation_.sender_.forward_to_home(table_, part);
  }
  void forward(const KeyQueue::CopyMessage& message) LAPSE_REQUIRES(progress_role) {
    relocation_.replication_.messages.forward_to_home(table_, key_, message);
  }
  void ask_again(const LeaseAsker& asker) LAPSE_REQUIRES(progress_role) {
    if (refusal_ != nullptr) {
      relocation_.lease_turns_.refused(asker, table_, *refusal_);
    } else {
      relocation_.lease_turns_.left(asker, table_, key_);
    }
  }

 private:
  KeyRelocation& relocation_;
  TableShard& table_;
  Key key_;
  Slot slot_;
  Clock::time_point now_;
  const KeyFailure* refusal_;
};

void KeyRelocation::drain(TableShard& table, Key key, std::uint32_t record, Slot slot,
                          Clock::time_point now) {
  KeyQueue& queue = table.arrivals().queue(record);
  const bool ends_lease = table.copies() != nullptr && !is_arriving(table, key);
  if (ends_lease) KeyOwner::lease_ended(table, key, table.store().address(slot));
  switch (queue.drain(Drain(*this, table, key, slot, now))) {
    case KeyQueue::End::open:
      settle(table, key, record, slot, LeaseState::none);
      if (ends_lease) replication_.refreshes.lease_over(table, key);
      break;
    case KeyQueue::End::leased:
      settle(table, key, record, slot, queue.empty() ? LeaseState::held : LeaseState::held_and_queued);
      break;
    case KeyQueue::End::left:
      relocalize(table, key, record, now);
      break;
  }
}

void KeyRelocation::take_refusal(TableShard& table, const KeyFailure& failure, Clock::time_point now) {
  const Key key = failure.key;
  const SlotWord word = table.store().word(key);
  const bool asked = low_half(word.role()) == LowHalf::arrival;
  if (!asked || table.arrivals().holds_instruct(word.low())) {
    throw ProtocolError(fmt::format("key {} of table '{}' is refused to domain {}, which {}", key.value(),
                                    table.name(), table.self_domain().value(),
                                    asked ? "the home has given it to" : "did not ask for it"));
  }
  const std::uint32_t arrival = word.low();
  table.store().refuse(key);
  table.store().cancel_arrival(key, table.arrivals().prepared(arrival));
  if (!table.arrivals().is_plain(arrival))
    table.arrivals().queue(arrival).send_away(Drain(*this, table, key, {}, now, &failure));
  const std::vector<Waiter> waiters = table.arrivals().take_waiters(arrival);
  table.arrivals().close(arrival);
  for (const Waiter waiter : waiters) answers_.fail(waiter, table, failure);
}

void KeyRelocation::settle(TableShard& table, Key key, std::uint32_t record, Slot slot, LeaseState lease) {
  const std::vector<Waiter> waiters = table.arrivals().take_waiters(record);
  if (is_arriving(table, key)) {
    const bool replicated =
        table.copies() != nullptr && TableCopies::has_members(table.store().address(slot));
    table.store().publish_owner(key, slot, lease, replicated);
  } else {
    table.store().set_lease(key, lease);
  }
  if (lease == LeaseState::held_and_queued) {
    table.arrivals().keep_for_lease(record, key);
  } else {
    table.arrivals().close(record);
  }
  for (const Waiter waiter : waiters) answers_.notify(waiter);
  if (table.copies() != nullptr) replication_.owner.check(table, key);
}

void KeyRelocation::relocalize(TableShard& table, Key key, std::uint32_t record, Clock::time_point now) {
  const std::vector<Waiter> waiters = table.arrivals().take_waiters(record);
  const std::vector<Waiter> relocalizes = table.arrivals().take_relocalizes(record);
  table.arrivals().close(record);
  for (const Waiter waiter : waiters) answers_.notify(waiter);
  // Waiters added after the INSTRUCT localize the key again: the first sends the request, the others join it.
  for (const Waiter waiter : relocalizes) localize_for(table, key, waiter, now);
}

}  // namespace lapse

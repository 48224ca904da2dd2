// Copies of one key: who wants it, who holds a copy, and how copies are merged. The rules are numbered in
// docs/model/replication.md; docs/replication.md describes the whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lapse/core/progress_role.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/host/credits.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/key/access.hpp"
#include "lapse/protocol/key/refresh_backlog.hpp"
#include "lapse/protocol/key/relocation_records.hpp"
#include "lapse/protocol/key/replication_records.hpp"
#include "lapse/protocol/table/arrival_table.hpp"
#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/protocol/table/management_policy.hpp"
#include "lapse/protocol/table/refresh_counts.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

class KeyRelocation;
class LeaseTurns;

// Everything about keys that this rank serves. Functions that a comment places at the owner, or at a holder,
// are called where the domain has that role.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. At most one ON, DELTA or OFF of a domain about a key is unanswered; LOCALIZE waits for it, too.
// 2. Every change of a main copy with members raises its version and marks all members dirty.
// 3. A delta is never dropped: it is merged into the main copy before the slot of the copy is released.
// 4. Before the main copy is transferred, what its dirty members lack is sent, or kept to be sent: a TRANSFER
//    carries no news for any other domain.
// 5. A rank that has no credit (Credits) is sent no REFRESH, and DELTAs only where they go before operations.
class KeyReplication {
 public:
  using Clock = ArrivalTable::Clock;
  using CopyMessage = KeyQueue::CopyMessage;

  KeyReplication(const Registry& registry, Outbox& outbox, const Router& router, Access& access,
                 KeyRelocation& relocation, LeaseTurns& lease_turns)
      : registry_(registry),
        outbox_(outbox),
        router_(router),
        access_(access),
        relocation_(relocation),
        lease_turns_(lease_turns),
        refreshes_(registry.ranks()),
        credits_(registry.ranks()),
        backlog_(registry.ranks()) {}

  // Between phases; the policy outlives its use. Without one: announce, and offer.
  void set_policy(const ManagementPolicy* policy) { policy_ = policy; }

  // What is done about an absent key that the domain begins to want.
  ManagementPolicy::Wanted step_of(const TableShard& table, Key key) const LAPSE_REQUIRES(progress_role) {
    if (policy_ == nullptr) return ManagementPolicy::Wanted::announce;
    const TableCopies* const copies = table.copies();
    return policy_->wanted(table.id(), key, copies != nullptr && copies->sole_wants().likely());
  }
  // Whether the owner gives the key to the only domain that wants it.
  bool offers(const TableShard& table, Key key, ManagementPolicy::Change change) const {
    return policy_ == nullptr ||
           policy_->decide(table.id(), key, change) == ManagementPolicy::Decision::offer;
  }
  // Whether an owner that wants the key keeps a copy when it gives it away.
  bool keeps(const TableShard& table, Key key) const {
    return policy_ == nullptr || policy_->keeps(table.id(), key);
  }
  // Whether the domain wants the key, and has not been refused a copy.
  static bool wants(const TableShard& table, Key key) LAPSE_REQUIRES(progress_role);

  // There is no room for a copy of a key that the domain wants: the key stays where it is.
  static void decline(TableShard& table, Key key) LAPSE_REQUIRES(progress_role);

  // --- wants of the domain

  // The domain begins, or ceases, to want the key (rules 12, 17).
  void want(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void unwant(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // A worker of the domain localizes a key of which this domain has a replica's record (rule 20); `waiter`,
  // if there is one, will be notified.
  void localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // An operation that was queued at a replica (rule 26) is sent on as soon as that is possible.
  void queued(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role) {
    advance(table, key, now);
  }

  // --- what the owner sends to a holder

  void take_snapshot(TableShard& table, const VersionRecord& record, const std::byte* content, Domain owner,
                     Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void take_refresh(TableShard& table, const VersionRecord& record, const std::byte* content, Domain owner,
                    Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void take_offer(TableShard& table, Key key, bool to_member, Domain owner, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  void take_refusal(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void take_acknowledgement(TableShard& table, Key key, Domain owner, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // A worker has read the domain's copy of the key, at that time: how old the copy was is counted, as far as
  // it is known.
  static void note_read(TableShard& table, Key key, Clock::time_point at) LAPSE_REQUIRES(progress_role);

  // --- what holders send to the owner, wherever it is (rule 2)

  void take(TableShard& table, Key key, const CopyMessage& message, bool by_home, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  void forward_to_home(TableShard& table, Key key, const CopyMessage& message) LAPSE_REQUIRES(progress_role);

  // --- main copies that come and go; tables that may have copies

  // At the owner: rule 10, for a key that is not leased. False where it is.
  bool give_up(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // The same where the queue of the key is being drained; `slot` holds its value.
  void give_up_drained(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Slot slot,
                       Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Rule 11, until the queue is drained: the value is stored, and the key is arriving. Returns its slot.
  Slot arrive(TableShard& table, Key key, const std::byte* moved, std::span<const MemberRecord> members)
      LAPSE_REQUIRES(progress_role);
  // ON, DELTA or OFF from the queue of a key that is being drained.
  void take_drained(TableShard& table, Key key, const CopyMessage& message, Slot slot)
      LAPSE_REQUIRES(progress_role);
  // A queued operation has changed the value (rule 4).
  static void changed(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // A lease has ended, and the queue is to be drained (rule 29).
  static void lease_ended(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // And the queue has been drained: members that wait for the end are sent what they lack.
  void lease_over(TableShard& table, Key key) LAPSE_REQUIRES(progress_role);
  // The queue has been drained, and this domain owns the key (rule 9).
  void settled(TableShard& table, Key key) LAPSE_REQUIRES(progress_role) { check(table, key, nullptr); }

  // --- rounds

  // A holder's changes (rule 21); `number`: of the replica's record. False where they cannot be sent yet:
  // then the record is marked.
  bool send_marked(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // Whether a sync of this rank waits for the answers to its DELTAs.
  void set_deltas_awaited(bool awaited) LAPSE_REQUIRES(progress_role) { deltas_awaited_ = awaited; }
  RefreshCounts& refreshes() LAPSE_REQUIRES(progress_role) { return refreshes_; }
  // To the dirty members of a main copy that have credit (rule 8); the others come into the backlog. Where
  // the key is leased, the record is listed again.
  void send_refreshes(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // Whether the main copy has a dirty member that the rank serves.
  static bool is_owed(const TableShard& table, const MainCopy& main, Rank to);
  // What of the backlog has credit.
  void send_backlog() LAPSE_REQUIRES(progress_role);
  // Whether a replica's changes could not be sent for want of credit since the last call.
  bool take_deltas_wait_for_credit() LAPSE_REQUIRES(progress_role) {
    return std::exchange(deltas_wait_for_credit_, false);
  }
  Credits& credits() LAPSE_REQUIRES(progress_role) { return credits_; }
  const RefreshBacklog& backlog() const LAPSE_REQUIRES(progress_role) { return backlog_; }

 private:
  enum class Entry : std::uint8_t { home, any };
  // Of a message to the owner.
  struct Path {
    Rank to;
    bool by_home;
  };

  [[noreturn]] static void throw_unexpected(const TableShard& table, Key key, std::string_view message);

  // --- holder

  void announce(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Nothing is unanswered any more: rules 26 and 17.
  void advance(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void send_queue(TableShard& table, Key key, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  void upgrade(TableShard& table, Key key, std::uint32_t number, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  void drop(TableShard& table, Key key, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  bool send_delta(TableShard& table, Key key, std::uint32_t number, const Path& path)
      LAPSE_REQUIRES(progress_role);
  // The replica's record is closed, and the key is absent: localizes that wait for the key begin.
  void close(TableShard& table, Key key, std::uint32_t number, bool localize, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // --- owner; `content`: of a key that is being drained, else null. False where the key is leased.

  bool take_at_main(TableShard& table, Key key, const CopyMessage& message, Slot slot, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  bool take_on(TableShard& table, Key key, Domain from, Slot slot, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  bool take_delta(TableShard& table, Key key, const CopyMessage& message, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  bool take_off(TableShard& table, Key key, const CopyMessage& message, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // Adds the delta, if there is one, to the main copy, and marks its members.
  bool merge(TableShard& table, Key key, const CopyMessage& message, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // The main copy has a record from now on, whose version is raised.
  bool open_main(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // The record's main copy has left, or has no member any more.
  void close_record(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // It has lost its last member.
  void close_main(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // Offers the key to the last member (rule 9).
  void check(TableShard& table, Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  // To one dirty member that has credit, else into the backlog; false where the key is leased.
  bool refresh_in_turn(TableShard& table, std::uint32_t number, Member& to, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // The key is leased: its dirty members are sent what they lack when the engine ends the lease.
  void refresh_after_lease(TableShard& table, std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // To one dirty member; false where the key is leased. `later`: as soon as the member has credit.
  bool send_refresh(TableShard& table, const MainCopy& main, Member& to, std::byte* content,
                    bool later = false) LAPSE_REQUIRES(progress_role);
  // To the dirty members of a main copy that leaves, all but its new owner. False where the key is leased.
  bool send_last_refreshes(TableShard& table, std::uint32_t number, Domain next, std::byte* content)
      LAPSE_REQUIRES(progress_role);
  // Calls f(content) with the value to itself.
  template <class F>
  static bool with_main(TableShard& table, Key key, std::byte* content, F&& f) LAPSE_REQUIRES(progress_role);
  Member& member(const TableShard& table, Key key, MainCopy* main, Domain domain) const
      LAPSE_REQUIRES(progress_role);
  // A main copy that leaves: the TRANSFER, and the replica that stays, if there is one.
  struct Leaving {
    std::optional<std::uint32_t> main;     // number of its record
    std::optional<std::uint32_t> replica;  // number of the record
    std::byte* record = nullptr;           // of the message
    std::size_t members = 0;               // that are sent with it
    bool raises = false;                   // the version, as the set of members was empty
  };
  Leaving begin_leaving(TableShard& table, Key key, const KeyQueue::Instruct& instruct, std::byte* content,
                        Slot slot, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Fills the TRANSFER, and makes the value a copy, or one whose slot may be released.
  void leave(TableShard& table, Key key, const KeyQueue::Instruct& instruct, const Leaving& leaving,
             std::byte* content) LAPSE_REQUIRES(progress_role);
  void finish_leaving(TableShard& table, const Leaving& leaving) LAPSE_REQUIRES(progress_role);
  void cancel_leaving(TableShard& table, const Leaving& leaving) LAPSE_REQUIRES(progress_role);

  // --- messages

  // To the owner: by the home, or, where that is allowed, straight to where the owner was last.
  Path path_to_owner(TableShard& table, Key key, Domain owner, Entry entry) const
      LAPSE_REQUIRES(progress_role);
  std::byte* append_to_owner(TableShard& table, FrameKind kind, const Path& path, std::size_t bytes)
      LAPSE_REQUIRES(progress_role);
  void send_record(TableShard& table, FrameKind kind, Key key, Domain to, std::uint16_t flags = 0)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  const Router& router_;
  Access& access_;
  KeyRelocation& relocation_;
  LeaseTurns& lease_turns_;
  const ManagementPolicy* policy_ = nullptr;
  bool deltas_wait_for_credit_ LAPSE_GUARDED_BY(progress_role) = false;
  bool deltas_awaited_ LAPSE_GUARDED_BY(progress_role) = false;
  RefreshCounts refreshes_ LAPSE_GUARDED_BY(progress_role);
  Credits credits_ LAPSE_GUARDED_BY(progress_role);
  RefreshBacklog backlog_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse

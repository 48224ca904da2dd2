// Moving keys: localize, INSTRUCT, TRANSFER (Lapse paper, section 3.2).
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/access.hpp"
#include "lapse/protocol/localize_answers.hpp"
#include "lapse/protocol/outbox.hpp"
#include "lapse/protocol/protocol_module.hpp"
#include "lapse/protocol/registry.hpp"

namespace lapse {

// localize, and localize_for within a domain.
struct LocalizeRecord {
  std::uint64_t key = 0;
};
static_assert(sizeof(LocalizeRecord) == 8);

struct InstructRecord {
  std::uint64_t key = 0;
  std::uint32_t relocations = 0;  // how often the key has moved, this time included
  std::uint32_t padding = 0;
};
static_assert(sizeof(InstructRecord) == 16);

// transfer: this, then the value's elements and the state of the update rule.
struct TransferRecord {
  std::uint64_t key = 0;
  std::uint32_t relocations = 0;
  std::uint32_t padding = 0;
};
static_assert(sizeof(TransferRecord) == 16);

// Is notified when the turn of a lease request has come that waited in the queue of a key. Called while the queue is
// drained: it may not use the key yet.
class LeaseTurns {
 public:
  // The key is leased to the asker.
  virtual void granted(const LeaseAsker& asker, TableShard& table, Key key) LAPSE_REQUIRES(progress_role) = 0;
  // The key has left the domain: the request has to ask for it again.
  virtual void left(const LeaseAsker& asker, TableShard& table, Key key) LAPSE_REQUIRES(progress_role) = 0;

 protected:
  ~LeaseTurns() = default;
};

// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. The home orders all relocations of a key: changing its table and instructing the old owner are one step.
// 2. The queue of a key that arrives is drained, in order, before its slot word says owner (I3).
// 3. An INSTRUCT that reaches an arriving key queues with the operations; when its turn comes, the value moves on and
//    what queued behind it goes to the home, in order.
// 4. A leased key behaves like an arriving one; the end of the lease is the arrival.
// 5. At every moment at most one domain owns a key (I1): the old owner forgets it in the step that sends it off.
class Relocation final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::localize}, {FrameKind::instruct}, {.kind = FrameKind::transfer, .lane = FrameLane::free}};

  Relocation(const Registry& registry, Outbox& outbox, Access& access, LocalizeAnswers& answers,
             LeaseTurns& lease_turns)
      : registry_(registry), outbox_(outbox), access_(access), answers_(answers), lease_turns_(lease_turns) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  // No key is arriving, and nothing waits for the end of a lease.
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role);

  // Asks for a key that this rank serves and that is absent; `waiter`, if there is one, is notified when it has come.
  void begin(TableShard& table, Key key, Waiter waiter, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // The value of a key is in `slot`, and nobody may see it before the queue of its arrival record has been drained
  // and has left it open, leased or gone.
  void drain(TableShard& table, Key key, std::uint32_t record, Slot slot, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

 private:
  class Drain;

  // At the home.
  void relocate(TableShard& table, Key key, Domain requester, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the old owner.
  void instruct(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the new owner.
  void arrive(TableShard& table, const TransferRecord& record, const std::byte* content,
              Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // The queue has been drained as far as it goes: shows the key as it is now, and notifies the waiters.
  void settle(TableShard& table, Key key, std::uint32_t record, Slot slot, LeaseState lease)
      LAPSE_REQUIRES(progress_role);
  // The value has gone on: notifies the waiters, and asks once more for the key where that is wanted.
  void relocalize(TableShard& table, Key key, std::uint32_t record, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // A TRANSFER into which fill(std::byte*) writes value and rule state, and then makes the slot word absent. It is not
  // sent when fill returns false or throws while the key is still here.
  template <class Fill>
  bool transfer(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Fill&& fill)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  Access& access_;
  LocalizeAnswers& answers_;
  LeaseTurns& lease_turns_;
};

}  // namespace lapse

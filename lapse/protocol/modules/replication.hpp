// Replication: wants, rounds, and the messages between holders and owners.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/failure.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/key/key_replication.hpp"
#include "lapse/protocol/modules/copy_runs.hpp"
#include "lapse/protocol/modules/replica_samples.hpp"
#include "lapse/protocol/modules/round_timer.hpp"
#include "lapse/protocol/table/intent_source.hpp"
#include "lapse/protocol/table/key_observer.hpp"
#include "lapse/protocol/table/wanted_keys.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

struct RoundCounters {
  std::uint64_t rounds = 0;
};

// At the beginning of a *round*, a rank asks which keys its workers begin and cease to want (IntentSource).
// Then it sends everything that has changed: changes of replicas to their owners, and changed main copies to
// the holders. The work is proportional to the number of changes.
//
// Rounds begin on request and, while anything may have changed, at a deadline (RoundTimer). A change of a
// replica does not start a round.
//
// Thread safety: the holder of the progress lock; set_policy and set_source: between phases.
class Replication final : public ProtocolModule, public WantSink {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::on},
                                          {FrameKind::delta},
                                          {FrameKind::off},
                                          {FrameKind::snapshot, FrameLane::free},
                                          {FrameKind::offer, FrameLane::free},
                                          {FrameKind::refuse_copy, FrameLane::free},
                                          {FrameKind::refresh, FrameLane::free},
                                          {FrameKind::acknowledge, FrameLane::free},
                                          {FrameKind::credit},
                                          {FrameKind::want},
                                          {FrameKind::unwant}};

  Replication(const Registry& registry, Outbox& outbox, KeyReplication& keys, Relocation& relocation,
              const Failure& failure)
      : registry_(registry),
        outbox_(outbox),
        keys_(keys),
        runs_(registry, outbox, keys, relocation),
        failure_(failure),
        samples_(registry) {}

  // Each must outlive its use; null: none.
  void set_policy(const ManagementPolicy* policy) { keys_.wants.set_policy(policy); }
  void set_source(IntentSource* source);
  void set_observer(KeyObserver* observer) { observer_ = observer; }
  // Whether the next round finds wants that have begun or ended, regardless of the workers until then.
  bool has_pending_wants() const { return source_ != nullptr && source_->pending(); }
  // Must be equal on all ranks.
  void set_times(const RoundTimes& times);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Any Submission requests a round, as soon as possible.
  void handle_submission(Submission&) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  void handle_deadline(Clock::time_point now) override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel level) const override LAPSE_REQUIRES(progress_role);
  void hasten(IdleLevel level) override LAPSE_REQUIRES(progress_role);

  // Runs a round. Does nothing after a failure: the end of the phase waits only for what is in flight.
  // `pauses`: whether changes may wait for a later round if it is too early to send them (RoundTimes::pause),
  // and those of tables that send at clocks for a cut.
  void round(Clock::time_point now, bool pauses = false) LAPSE_REQUIRES(progress_role);
  // The part of a round that sends the changes, as far as there is credit.
  void send_changes(Clock::time_point now) LAPSE_REQUIRES(progress_role) { send_changes(now, true); }
  // Sends changes of replicas whose marks were taken before but that could not be sent then.
  void send_unsent_changes() LAPSE_REQUIRES(progress_role);
  // After send_changes: sends what `to` still lacks of the keys that it serves for another domain. False if
  // main copies are leased, or `to` has no credit: then this rank sends it when that has ended, and a turn
  // follows.
  bool send_owed(Rank to) LAPSE_REQUIRES(progress_role);
  // Whether REFRESHes wait until the rank has handled earlier ones.
  bool awaits_credit(Rank to) const LAPSE_REQUIRES(progress_role) {
    return !keys_.refreshes.backlog().empty(to);
  }
  // A *cut* of all replicas that this rank serves (ReplicaTable): their changes are sent, and those from
  // before the cut are waited for until they are merged. There is one at a time, for one of these users; who
  // has to wait for the other is next.
  enum class CutUser : std::uint8_t { sync, level };
  // Sends the changes and makes a cut; false if the other user's has not ended, or is next.
  bool begin_cut(CutUser user, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Whether what the cut waits for is merged. Sends what could not be sent before.
  bool is_cut_merged() LAPSE_REQUIRES(progress_role);
  // Returns whether the other user waits to cut.
  bool end_cut() LAPSE_REQUIRES(progress_role) {
    cutting_.reset();
    return next_cut_.has_value();
  }
  // The user waits no more to cut.
  void withdraw_cut(CutUser user) LAPSE_REQUIRES(progress_role) {
    if (next_cut_ == user) next_cut_.reset();
  }
  // Whether the user waits for answers to the DELTAs of this rank.
  void set_deltas_awaited(CutUser user, bool awaited) LAPSE_REQUIRES(progress_role) {
    deltas_awaited_[static_cast<std::size_t>(user)] = awaited;
    keys_.deltas.set_awaited(deltas_awaited_[0] || deltas_awaited_[1]);
  }
  // Whether the rank waits for what this one sends.
  void set_awaited(Rank to, bool awaited) LAPSE_REQUIRES(progress_role) {
    keys_.messages.credits().set_awaited(to, awaited);
  }
  RefreshParts& refreshes() LAPSE_REQUIRES(progress_role) { return keys_.refreshes.parts(); }
  // Numbers of replicas that this rank has held over time, by table.
  const CopySeries& copies_over_time() const LAPSE_REQUIRES(progress_role) {
    return samples_.copies_over_time();
  }
  const RoundCounters& counters() const LAPSE_REQUIRES(progress_role) { return counters_; }

  // --- called by the source of intents

  void want(TableId table, std::span<const Key> keys) override LAPSE_REQUIRES(progress_role);
  void unwant(TableId table, std::span<const Key> keys) override LAPSE_REQUIRES(progress_role);
  bool is_wanted(TableId table, Key key) const override LAPSE_REQUIRES(progress_role);

 private:
  bool owes(Rank to) const LAPSE_REQUIRES(progress_role);
  // Lets the engine end the leases of the main copies that owes(to) is about: otherwise a lease may end in
  // memory, and no turn follows from it. False if a lease has ended meanwhile: then send_changes sends what
  // it held up.
  bool end_leases_by_engine(Rank to) LAPSE_REQUIRES(progress_role);
  // This rank's wants of keys that it does not serve.
  WantedKeys& others(const TableShard& table) LAPSE_REQUIRES(progress_role);
  void change(TableId id, std::span<const Key> keys, bool on) LAPSE_REQUIRES(progress_role);
  // For keys that this rank serves.
  void change_served(TableShard& table, std::span<const Key> keys, bool on) LAPSE_REQUIRES(progress_role);
  // Number of keys that this rank has asked for and that have not arrived yet.
  std::size_t keys_on_their_way() const LAPSE_REQUIRES(progress_role);
  // `all`: also of tables that send at clocks.
  void send_changes(Clock::time_point now, bool all) LAPSE_REQUIRES(progress_role);
  void send_changes(TableShard& table) LAPSE_REQUIRES(progress_role);
  bool has_copies() const LAPSE_REQUIRES(progress_role);
  // False if nothing has changed that is not sent; lists may have entries that no longer matter.
  bool may_have_changes() const LAPSE_REQUIRES(progress_role);
  void send_unsent_changes(TableShard& table) LAPSE_REQUIRES(progress_role);
  void take_credit(Rank from, const FrameHeader& header, const std::byte* records)
      LAPSE_REQUIRES(progress_role);
  void take_wants(TableShard& table, const FrameHeader& header, const std::byte* records)
      LAPSE_REQUIRES(progress_role);
  void take_record(TableShard& table, const FrameHeader& header, const std::byte* record)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  KeyReplication& keys_;
  CopyRuns runs_;
  const Failure& failure_;
  RoundTimer timer_ LAPSE_GUARDED_BY(progress_role);
  IntentSource* source_ = nullptr;
  KeyObserver* observer_ = nullptr;
  RoundCounters counters_ LAPSE_GUARDED_BY(progress_role);
  ReplicaSamples samples_ LAPSE_GUARDED_BY(progress_role);
  Clock::time_point now_ LAPSE_GUARDED_BY(progress_role);  // when the current handling began
  std::optional<CutUser> cutting_ LAPSE_GUARDED_BY(progress_role);
  std::optional<CutUser> next_cut_ LAPSE_GUARDED_BY(progress_role);  // waits for the other's end
  std::array<bool, 2> deltas_awaited_ LAPSE_GUARDED_BY(progress_role){};
  bool has_new_credit_ LAPSE_GUARDED_BY(progress_role) = false;
  std::vector<std::unique_ptr<WantedKeys>> others_ LAPSE_GUARDED_BY(progress_role);  // by table
  // Scratch memory.
  std::vector<Key> served_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Key> not_served_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Key> changed_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> marked_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse

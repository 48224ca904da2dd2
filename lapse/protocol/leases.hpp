// Keys that a worker has for itself.
#pragma once

#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/lease_request.hpp"
#include "lapse/protocol/outbox.hpp"
#include "lapse/protocol/protocol_module.hpp"
#include "lapse/protocol/registry.hpp"
#include "lapse/protocol/relocation.hpp"

namespace lapse {

// lease_request: this. lease_grant and lease_release: this; then, where value and rule state are in memory that only
// the serving rank can address, these themselves.
struct LeaseRecord {
  std::uint64_t key = 0;
};
static_assert(sizeof(LeaseRecord) == 8);

// A request gets its keys one after the other in ascending order of table and key, waiting for each where operations
// wait too: at the key's arrival, or behind the lease of another worker. A key that another rank of the domain serves
// is taken in the memory that both share if it is there and not leased; else the other rank is asked, and grants it
// when its turn comes.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. A request that waits for a key holds only smaller ones, and one that holds all its keys waits for nothing: so
//    some request always makes progress, on all ranks together.
// 2. A request that asks for a key that is not here stands in the queue of its arrival before any INSTRUCT: the key
//    cannot pass by. One that joins an arrival late may stand behind an INSTRUCT; then it asks anew when the key has
//    left.
class Leases final : public ProtocolModule, public LeaseTurns {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::lease_request},
      {.kind = FrameKind::lease_grant, .lane = FrameLane::free},
      {FrameKind::lease_release},
  };

  Leases(const Registry& registry, Outbox& outbox, Relocation& relocation)
      : registry_(registry), outbox_(outbox), relocation_(relocation) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  // Goes on with the requests whose turn has come.
  void end_turn() override LAPSE_REQUIRES(progress_role);
  // What waits for keys is recorded by Relocation.
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return turns_.empty(); }

  void granted(const LeaseAsker& asker, TableShard& table, Key key) override LAPSE_REQUIRES(progress_role);
  void left(const LeaseAsker& asker, TableShard& table, Key key) override LAPSE_REQUIRES(progress_role);

 private:
  // The turn of a request that waited: it has got the key, or has to ask for it again.
  struct Turn {
    LeaseAsker asker;
    TableShard* table;
    Key key;
    bool granted;
  };

  // Goes on until the request has everything, waits for something, or fails: then it holds nothing.
  void advance(LeaseRequest& request) LAPSE_REQUIRES(progress_role);
  void grant(LeaseRequest& request) LAPSE_REQUIRES(progress_role);
  void fail(LeaseRequest& request) LAPSE_REQUIRES(progress_role);
  void release(LeaseRequest& request) LAPSE_REQUIRES(progress_role);
  static void finish(LeaseRequest& request) LAPSE_REQUIRES(progress_role);

  // For a key that this rank serves: true when `asker` has it now; else it has queued.
  bool acquire(TableShard& table, Key key, const LeaseAsker& asker) LAPSE_REQUIRES(progress_role);
  void release_key(TableShard& table, Key key) LAPSE_REQUIRES(progress_role);
  // To another rank of the domain; where `content` is given, it goes along.
  void send(FrameKind kind, Rank to, const TableShard& table, Key key, std::uint64_t worker,
            const std::byte* content) LAPSE_REQUIRES(progress_role);
  void send_grant(const LeaseAsker& asker, const TableShard& table, Key key) LAPSE_REQUIRES(progress_role);

  void take_grant(const FrameHeader& header, const std::byte* record) LAPSE_REQUIRES(progress_role);
  void take_release(TableShard& table, Key key, const FrameHeader& header, const std::byte* record)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  Relocation& relocation_;
  std::vector<Turn> turns_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse

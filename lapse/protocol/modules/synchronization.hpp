// Lets workers wait until replicas are merged and refreshed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/modules/replication.hpp"
#include "lapse/protocol/worker/registry.hpp"
#include "lapse/protocol/worker/sync_request.hpp"

namespace lapse {

// sync_for, sync_for_answer.
struct SyncForRecord {
  std::uint64_t worker = 0;  // local index at the requesting rank
};
static_assert(sizeof(SyncForRecord) == 8);

// sync; sync_answer. `number`: the number of the asking rank's sync.
struct SyncRecord {
  std::uint64_t number = 0;
};
static_assert(sizeof(SyncRecord) == 8);
struct SyncAnswerRecord {
  std::uint64_t number = 0;
  RefreshParts::Part part;  // of the REFRESHes to the asking rank; ends here
};
static_assert(sizeof(SyncAnswerRecord) == 24);

// A worker asks every rank of its domain. Each runs a *sync* about the keys that it serves:
// 1. It sends all changes of its replicas, and asks the ranks that serve these keys for other domains. Each
//    sends the refreshes that are due, and answers with their number.
// 2. All of these have arrived. The sync then waits for everything that is not merged now: unanswered DELTAs
//    and OFFs, changes that could not be sent yet, and replicas that are being upgraded. It does not wait for
//    later changes.
// 3. All of that has been merged.
// Then replicas are as new as the main copies were when the sync began. Step 1 does not refresh two kinds of
// replicas; step 3 does: those with an unanswered DELTA drop a refresh that does not answer it, and those
// being upgraded get the main copy itself from their owner.
//
// A rank runs one sync at a time, for all workers that asked before it began. It costs two small messages for
// each rank that is asked, however many keys there are.
//
// Thread safety: the holder of the progress lock.
class Synchronization final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::sync_for}, {FrameKind::sync_for_answer}, {FrameKind::sync}, {FrameKind::sync_answer}};

  Synchronization(const Registry& registry, Outbox& outbox, Replication& replication);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Whether any table may have replicas. Otherwise there is nothing to wait for. Any thread.
  bool has_work() const;
  // Takes a SyncRequest.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) {
    return step_ == Step::none && waiting_.empty() && asked_.empty();
  }

  // A rank whose answer or refreshes the running sync waits for.
  std::optional<Rank> awaited() const LAPSE_REQUIRES(progress_role);

 private:
  enum class Step : std::uint8_t { none, asking, merging };
  // A worker that waits, on any rank of the domain.
  struct Waiting {
    Rank rank;
    std::uint64_t worker;
  };
  // Another rank's sync that is not answered yet.
  struct Asked {
    Rank by;
    std::uint64_t number;
  };
  // A rank that this rank's sync asks.
  struct Peer {
    Rank rank;
    std::optional<std::uint64_t> part;  // of its REFRESHes, the last that counts; nullopt: not answered
  };

  void begin() LAPSE_REQUIRES(progress_role);
  void advance() LAPSE_REQUIRES(progress_role);
  void finish() LAPSE_REQUIRES(progress_role);
  void answer_asked() LAPSE_REQUIRES(progress_role);
  void answered(std::uint64_t worker) LAPSE_REQUIRES(progress_role);
  void take_answer(Rank from, const SyncAnswerRecord& answer) LAPSE_REQUIRES(progress_role);
  // Whether all refreshes of the rank that the sync waits for have arrived.
  bool has_refreshed(const Peer& peer) const LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  Replication& replication_;
  std::vector<Waiting> waiting_ LAPSE_GUARDED_BY(progress_role);  // for the next sync
  std::vector<Waiting> served_ LAPSE_GUARDED_BY(progress_role);   // by the running sync
  std::vector<Asked> asked_ LAPSE_GUARDED_BY(progress_role);
  // The running sync.
  Step step_ LAPSE_GUARDED_BY(progress_role) = Step::none;
  std::uint64_t number_ LAPSE_GUARDED_BY(progress_role) = 0;
  std::vector<Peer> peers_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse

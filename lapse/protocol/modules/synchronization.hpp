// Waits for workers until copies of values are merged and refreshed.
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
  std::uint64_t worker = 0;  // local index at the rank that requests
};
static_assert(sizeof(SyncForRecord) == 8);

// sync; sync_answer. `number`: of the asking rank's sync.
struct SyncRecord {
  std::uint64_t number = 0;
};
static_assert(sizeof(SyncRecord) == 8);
struct SyncAnswerRecord {
  std::uint64_t number = 0;
  std::uint64_t refreshes = 0;  // how many REFRESHes the rank has sent to the asking rank before
};
static_assert(sizeof(SyncAnswerRecord) == 16);

// A worker asks every rank of its domain. Each runs a *sync* about the keys that it serves:
// 1. It sends all changes of its copies, and asks the ranks that serve these keys for other domains. Each
//    sends the refreshes that are due, and answers how many there have been.
// 2. All of these have come. What is not merged now will be waited for: DELTAs and OFFs that are not
//    answered, changes that could not be sent yet, and copies that are being upgraded. Changes that come
//    later will not.
// 3. All of that has been merged.
// Copies are as new then as the main copies were when the sync began. Two kinds were not refreshed by step 1
// and are by step 3: those with an unanswered DELTA, which drop a refresh that does not answer it, and those
// being upgraded, to which their owner sends the main copy itself.
//
// A rank runs one sync at a time, for all that have asked before it began. It costs two small messages for
// each rank that is asked, however many keys there are.
//
// Thread safety: the holder of the progress lock.
class Synchronization final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::sync_for, FrameUse::other},
                                          {FrameKind::sync_for_answer, FrameUse::other},
                                          {FrameKind::sync, FrameUse::other},
                                          {FrameKind::sync_answer, FrameUse::other}};

  Synchronization(const Registry& registry, Outbox& outbox, Replication& replication);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Whether any table may have copies. Without, there is nothing to wait for. Any thread.
  bool has_work() const;
  // Takes a SyncRequest.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) {
    return step_ == Step::none && waiting_.empty() && asked_.empty();
  }

  // A rank whose answer, or whose refreshes, the sync that runs waits for.
  std::optional<Rank> awaited() const LAPSE_REQUIRES(progress_role);

 private:
  enum class Step : std::uint8_t { none, asking, merging };
  // A worker that waits, of any rank of the domain.
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
    std::optional<std::uint64_t> refreshes;  // that it has sent; nothing: it has not answered
  };

  // The ranks of this domain, for any table that may have copies; those that serve, for another domain, a key
  // that this rank serves.
  std::vector<Rank> members() const;
  std::vector<Peer> peers() const;

  void begin() LAPSE_REQUIRES(progress_role);
  void advance() LAPSE_REQUIRES(progress_role);
  void finish() LAPSE_REQUIRES(progress_role);
  void answer_asked() LAPSE_REQUIRES(progress_role);
  void answered(std::uint64_t worker) LAPSE_REQUIRES(progress_role);
  void take_answer(Rank from, const SyncAnswerRecord& answer) LAPSE_REQUIRES(progress_role);
  // Whether all refreshes of the rank have come that the sync waits for.
  bool has_refreshed(const Peer& peer) const LAPSE_REQUIRES(progress_role);
  bool all_refreshed() const LAPSE_REQUIRES(progress_role);
  bool all_merged() const LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  Replication& replication_;
  std::vector<Waiting> waiting_ LAPSE_GUARDED_BY(progress_role);  // for the next sync
  std::vector<Waiting> served_ LAPSE_GUARDED_BY(progress_role);   // by the one that runs
  std::vector<Asked> asked_ LAPSE_GUARDED_BY(progress_role);
  // Of the sync that runs.
  Step step_ LAPSE_GUARDED_BY(progress_role) = Step::none;
  std::uint64_t number_ LAPSE_GUARDED_BY(progress_role) = 0;
  std::vector<Peer> peers_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse

// Detects stalls by inquiry: asks other ranks why a worker waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/group/termination_detection.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/modules/replication.hpp"
#include "lapse/protocol/modules/synchronization.hpp"
#include "lapse/protocol/stalls/unsynced.hpp"
#include "lapse/protocol/worker/registry.hpp"
#include "lapse/protocol/worker/stall_question.hpp"

namespace lapse {

// key_inquiry.
struct KeyInquiryRecord {
  std::uint64_t key = 0;
  std::uint32_t item = 0;
  std::uint32_t here = 0;  // 1: the receiver serves the key for the domain of the worker
};
static_assert(sizeof(KeyInquiryRecord) == 16);

// key_inquiry_answer.
struct KeyInquiryAnswer {
  static constexpr std::int32_t kNotHome = -1;
  static constexpr std::uint32_t kLeased = 1;
  static constexpr std::uint32_t kInstructed = 2;
  static constexpr std::uint32_t kHere = 4;  // from the inquiry

  std::uint32_t item = 0;
  std::int32_t owner = kNotHome;  // by the home's table, if the home answers
  std::uint32_t role = 0;
  std::uint32_t flags = 0;
  std::uint32_t operations = 0;
  std::uint32_t requests = 0;
  std::uint32_t milliseconds = 0;
  std::uint32_t unanswered = 0;  // Replica::Unanswered
  // If the domain has a replica's record: the age of Replica::refreshed, and the owner's serving rank as far
  // as it is known there.
  std::uint32_t copy_milliseconds = 0;
  std::int32_t copy_owner = -1;
};
static_assert(sizeof(KeyInquiryAnswer) == 40);

// worker_inquiry: which workers of the group have made fewer collective calls? With 0, no worker has: this
// asks for a sign of life. With kDetached: which workers are detached, if all of the rank are?
struct WorkerInquiryRecord {
  static constexpr std::uint64_t kDetached = UINT64_MAX;

  std::uint64_t collective_calls = 0;
  std::uint64_t group = kAllWorkers;
  std::int64_t level = 0;  // if above 0: which workers of the group have a lower one?
};
static_assert(sizeof(WorkerInquiryRecord) == 24);

// worker_inquiry_answer.
struct WorkerInquiryAnswer {
  static constexpr std::size_t kListed = 7;
  struct Worker {
    std::uint32_t number = 0;
    std::uint32_t activity = 0;
  };

  std::uint32_t absent = 0;
  std::uint32_t listed = 0;  // of them
  Worker workers[kListed];
  UnsyncedRecord unsynced;
};
static_assert(sizeof(WorkerInquiryAnswer) == 96);

// A question about keys goes to the home of each key, and from there to the owner that the home records,
// which is the last domain that has asked for the key. If the key has not arrived there, it may still be
// leased by a domain that must pass it on, and no table records which one: the serving rank of every domain
// is asked about the key. If the key has arrived and is not leased, some rank has not sent on a message, and
// no table records which one: every rank is asked for a sign of life. If the table may have replicas, the
// rank that serves the key for the worker's own domain is asked, too. A question about workers, or about
// ranks that are not synced, goes to every rank. A question ends when all ranks have answered, or after
// kPatience; at once if it is about the end of a phase that may have been reached.
//
// Thread safety: the holder of the progress lock.
//
// Guarantee: changes nothing but its own records. Only the worker that asks waits for an answer.
class StallInquiry final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::key_inquiry},
                                          {FrameKind::key_inquiry_answer},
                                          {FrameKind::worker_inquiry},
                                          {FrameKind::worker_inquiry_answer}};
  static constexpr std::chrono::milliseconds kPatience{1000};
  // Most keys of one question.
  static constexpr std::size_t kKeys = 3;

  StallInquiry(const Registry& registry, Outbox& outbox, const Replication& replication,
               const Synchronization& synchronization, const TerminationDetection& termination)
      : registry_(registry),
        outbox_(outbox),
        replication_(replication),
        synchronization_(synchronization),
        termination_(termination) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Takes a StallQuestion.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void handle_deadline(Clock::time_point now) override LAPSE_REQUIRES(progress_role);
  // A worker that asks is not idle; if it asks no more, the answers are not needed. Nor are they once the
  // awaited end of the phase is reached.
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

 private:
  struct Asked {
    StallQuestion* question = nullptr;
    std::uint64_t number = 0;
    Clock::time_point deadline;
    std::vector<std::uint32_t> unanswered;  // by rank
    std::uint32_t all_unanswered = 0;
    bool asked_every_rank = false;
    std::array<bool, kKeys> searched{};  // by item: every domain was asked about the key
  };

  void choose_keys(StallQuestion& question) const LAPSE_REQUIRES(progress_role);
  // Operations and lease request of the worker are constant meanwhile, because it waits.
  void choose_operation_keys(const OperationState& operation, StallQuestion& question) const
      LAPSE_REQUIRES(progress_role);
  void add_key(const TableShard& table, Key key, std::optional<OperationKind> kind,
               StallQuestion& question) const LAPSE_REQUIRES(progress_role);

  // `here`: whether the rank is asked as the one that serves the key for the worker's domain.
  void ask_about_key(Asked& asked, std::uint32_t item, Rank rank, bool here = false)
      LAPSE_REQUIRES(progress_role);
  void ask_about_workers(Asked& asked, const WorkerInquiryRecord& inquiry) LAPSE_REQUIRES(progress_role);
  void take_key_answer(Asked& asked, Rank from, const KeyInquiryAnswer& answer) LAPSE_REQUIRES(progress_role);
  // Asks all domains except the recorded owner for the key.
  void search_key(Asked& asked, std::uint32_t item) LAPSE_REQUIRES(progress_role);
  void take_worker_answer(Asked& asked, Rank from, const WorkerInquiryAnswer& answer)
      LAPSE_REQUIRES(progress_role);

  // --- the rank that is asked (stall_answers.cpp)

  KeyInquiryAnswer answer_about_key(TableShard& table, const KeyInquiryRecord& inquiry) const
      LAPSE_REQUIRES(progress_role);
  UnsyncedRecord answer_about_sync() const LAPSE_REQUIRES(progress_role);
  WorkerInquiryAnswer answer_about_workers(const WorkerInquiryRecord& inquiry) const
      LAPSE_REQUIRES(progress_role);

  // Counts an answer to the question. Returns null if it has ended.
  Asked* count_answer(std::uint64_t question, Rank from) LAPSE_REQUIRES(progress_role);
  // Ends the questions that are answered or whose time is over.
  void finish_some(Clock::time_point now) LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  const Replication& replication_;
  const Synchronization& synchronization_;
  const TerminationDetection& termination_;
  std::vector<Asked> asked_ LAPSE_GUARDED_BY(progress_role);
  std::uint64_t questions_ LAPSE_GUARDED_BY(progress_role) = 0;
};

}  // namespace lapse

// One sequence of collective calls over engine messages: a tree reduction whose result everybody gets.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lapse/protocol/frame_handler.hpp"
#include "lapse/protocol/outbox.hpp"
#include "lapse/protocol/tree_reduction.hpp"
#include "lapse/transport/submission_queue.hpp"

namespace lapse {

// This rank's contribution to the next round. Owned by the contributor until the round is complete.
struct Contribution : Submission {
  Bytes bytes;
};

// Thread safety: submissions and frames by the holder of the progress lock; rounds and result by any thread
// of the rank, the result of round n from the moment completed_rounds() is n until this rank contributes
// again.
class Collective : public SubmissionHandler, public FrameHandler {
 public:
  // `up` and `down` are the kinds of frames of this sequence. `completed` is called by the engine after each
  // round.
  Collective(Outbox& outbox, FrameKind up, FrameKind down, std::function<void()> completed)
      : outbox_(outbox), up_(up), down_(down), completed_(std::move(completed)) {}

  // The participating ranks, ascending, the same list on each of them; `self` need not be among them, then
  // this rank takes no part. Called between phases, while no engine runs.
  void start(std::vector<Rank> participants, Rank self, TreeReduction::Combine combine);

  void handle_submission(Submission& submission) override;
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override;

  std::uint64_t completed_rounds() const { return rounds_.load(std::memory_order_acquire); }
  const Bytes& result() const { return result_; }

 private:
  void advance(std::optional<Bytes> combined);
  void finish(Bytes result);
  void send(FrameKind kind, Rank to, const Bytes& bytes);

  // constant
  Outbox& outbox_;
  FrameKind up_;
  FrameKind down_;
  std::function<void()> completed_;
  // constant during a phase
  std::vector<Rank> participants_;
  // guarded by the progress lock
  std::optional<TreeReduction> tree_;
  // published by rounds_
  Bytes result_;
  std::atomic<std::uint64_t> rounds_{0};
};

}  // namespace lapse

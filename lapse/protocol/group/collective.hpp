// One sequence of collective calls over engine messages: a tree reduction with the result on all ranks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/group/tree_reduction.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

// This rank's contribution to the next round. The contributor owns it until the round is complete.
struct Contribution : Submission {
  Bytes bytes;
};

// Called on each rank in every round, at the moment when the contributions of the rank and of those below it
// in the tree have arrived: no frame of the round is on its way to this rank then.
class CombinationPoint {
 public:
  // May change the combination. `sends`: the rank then sends it in a frame of its own; false on the root.
  virtual void before_sending(Bytes& combined, bool sends) LAPSE_REQUIRES(progress_role) = 0;
  // The frame has been appended; the result has not, on the root.
  virtual void after_sending(const Bytes& combined) LAPSE_REQUIRES(progress_role) = 0;

 protected:
  ~CombinationPoint() = default;
};

// Thread safety: submissions and frames: the holder of the progress lock. Rounds and result: any thread of
// the rank; the result of round n from when completed_rounds() is n until this rank contributes again.
class Collective final : public ProtocolModule {
 public:
  // `up` and `down`: the kinds of frames of this sequence. `number`: what its frames carry, if several
  // sequences share the kinds. The engine calls `completed` after each round.
  Collective(Outbox& outbox, FrameKind up, FrameKind down, std::function<void()> completed,
             std::uint64_t number = 0)
      : outbox_(outbox), number_(number), frames_{{{up}, {down}}}, completed_(std::move(completed)) {}

  std::span<const FrameSpec> frames() const override { return frames_; }
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

  // `participants`: the participating ranks, ascending, equal on all participants. If `self` is not one of
  // them, this rank takes no part. Called between phases, while no engine runs. A result for which `is_end`
  // is true stays at the root: no participant waits for it, and its round does not count. With every other
  // result, the engine calls `take_result` after it has counted the round as completed, before it calls
  // `completed`. `point`: may be null.
  void start(std::vector<Rank> participants, Rank self, TreeReduction::Combine combine,
             std::function<bool(const Bytes&)> is_end = {},
             std::function<void(const Bytes&)> take_result = {}, CombinationPoint* point = nullptr);

  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);

  const std::vector<Rank>& participants() const { return participants_; }
  std::uint64_t completed_rounds() const { return rounds_.load(std::memory_order_acquire); }
  const Bytes& result() const { return result_; }

 private:
  void advance(std::optional<Bytes> combined) LAPSE_REQUIRES(progress_role);
  void finish(Bytes result) LAPSE_REQUIRES(progress_role);
  // What frames carry: the low bits of the number of the round since start().
  std::uint32_t round() const { return static_cast<std::uint32_t>(completed_rounds() - rounds_at_start_); }
  void send(const FrameSpec& frame, Rank to, const Bytes& bytes) LAPSE_REQUIRES(progress_role);

  // constant
  Outbox& outbox_;
  const std::uint64_t number_;
  std::array<FrameSpec, 2> frames_;  // up and down
  std::function<void()> completed_;
  // constant during a phase
  std::vector<Rank> participants_;
  std::function<bool(const Bytes&)> is_end_;
  std::function<void(const Bytes&)> take_result_;
  CombinationPoint* point_ = nullptr;
  std::uint64_t rounds_at_start_ = 0;
  // guarded by the progress lock
  std::optional<TreeReduction> tree_ LAPSE_GUARDED_BY(progress_role);
  // published by rounds_
  Bytes result_;
  std::atomic<std::uint64_t> rounds_{0};
};

}  // namespace lapse

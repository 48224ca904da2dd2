// Detects that every rank has quiesced: at the end of a phase, or within a phase while its workers wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/group/collective.hpp"
#include "lapse/protocol/host/module_host.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/host/quiescence.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// The rank's part of the phase has ended: its workers have returned, or it has none. Every rank submits it
// once in a phase; a rank without workers at any time.
struct QuiescenceRequest : Submission {
  IdleLevel level = IdleLevel::synced;  // the same on every rank, as in detections within the phase
};

// Runs waves (see quiescence.hpp) until one finds that all frames that were sent have been received and that
// every module of every rank is idle at the requested level.
//
// The ranks run one detection after the other. In each, either the workers of all ranks that have some wait
// within the phase, or the phase ends. The waves find out which. So a rank without workers takes part in
// every detection of the phase without being asked, and begins the next one when one has been completed.
//
// A rank that does not know whether all others wait, too, contributes to the first wave in any state, as
// busy. The end of that wave notifies it that they do. From then on it hastens modules that are not idle, and
// joins a wave when all of them are.
//
// After a failure, no rank contributes until its part of the phase has ended. Then the running detection
// becomes the last one.
//
// A barrier of the workers of all ranks may be a detection within the phase by itself: what its contributions
// carry are the counts of each rank, at a cut at its CombinationPoint.
//
// Thread safety: the holder of the progress lock; completed(): any thread; start: between phases.
class TerminationDetection final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {FrameSpec(FrameKind::wave_up).uncounted(),
                                          FrameSpec(FrameKind::wave_down).uncounted()};

  // The engine calls `completed` after each detection.
  TerminationDetection(ModuleHost& host, const Registry& registry, Outbox& outbox,
                       std::function<void()> completed);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Takes a QuiescenceRequest.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  // The workers of all ranks wait until this detection has been completed. Called on every rank that has
  // workers. Has no effect after a failure, which ends the wait of the workers, too.
  void detect_within_phase(IdleLevel level) LAPSE_REQUIRES(progress_role);

  // What this rank contributes to a barrier of all ranks, each of which has workers. `sends`: a further frame
  // is sent before the cut, the one that carries the contribution.
  QuiescenceCounts counts_at_barrier(IdleLevel level, bool sends) const LAPSE_REQUIRES(progress_role);
  void cut_at_barrier() LAPSE_REQUIRES(progress_role) { host_.cut(CutNumber::Kind::barrier); }
  // `sums` over all ranks. The workers of all ranks wait until a detection has been completed: this one, if
  // the ranks had quiesced at their cuts, else one that begins now.
  void end_barrier(IdleLevel level, const QuiescenceCounts& sums) LAPSE_REQUIRES(progress_role);

  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

  // Whether the phase may end without a further contribution of this rank, or has ended. No wave would count
  // a frame that is sent from now on, and it might arrive after the end. So what does not follow from a
  // message, such as a stop that is requested, must wait.
  bool may_have_ended() const LAPSE_REQUIRES(progress_role) { return may_have_ended_; }

  // Called before a phase.
  void start();
  // Numbers of completed detections, and of those that have ended a phase.
  std::uint64_t completed() const { return completed_detections_.load(std::memory_order_acquire); }
  std::uint64_t phases_ended() const { return phases_ended_.load(std::memory_order_acquire); }

 private:
  static void add_counts(Bytes& into, const Bytes& from);
  void take_result() LAPSE_REQUIRES(progress_role);
  void contribute() LAPSE_REQUIRES(progress_role);
  bool may_contribute() const LAPSE_REQUIRES(progress_role);

  ModuleHost& host_;
  const Registry& registry_;
  Collective wave_;
  std::function<void()> completed_;
  // guarded by the progress lock
  std::optional<IdleLevel> level_ LAPSE_GUARDED_BY(progress_role);  // of the running detection
  bool is_within_phase_ LAPSE_GUARDED_BY(progress_role) = false;    // workers of this rank wait for its end
  bool all_wait_ LAPSE_GUARDED_BY(progress_role) = false;           // every rank takes part in it
  bool contributed_ LAPSE_GUARDED_BY(progress_role) = false;        // to the running wave
  bool may_have_ended_ LAPSE_GUARDED_BY(progress_role) = false;     // see there
  std::uint64_t waves_ LAPSE_GUARDED_BY(progress_role) = 0;         // that have ended
  bool none_in_flight_ LAPSE_GUARDED_BY(progress_role) = true;      // as the last wave has found
  Contribution contribution_ LAPSE_GUARDED_BY(progress_role);
  // self-synchronised
  std::atomic<std::uint64_t> completed_detections_{0};
  std::atomic<std::uint64_t> phases_ended_{0};
};

}  // namespace lapse

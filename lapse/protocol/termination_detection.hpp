// Detects that every rank has quiesced: at the end of a phase, or within a phase while its workers wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/collective.hpp"
#include "lapse/protocol/module_host.hpp"
#include "lapse/protocol/protocol_module.hpp"
#include "lapse/protocol/quiescence.hpp"

namespace lapse {

// Starts one detection. Every rank submits it; its workers submit nothing until the detection has ended.
struct QuiescenceRequest : Submission {
  IdleLevel level = IdleLevel::synced;  // the same on every rank
};

// Runs waves (quiescence.hpp) until two in a row find all frames received that were sent. A rank joins a wave
// when every module of its host is idle at the level asked for.
//
// Thread safety: the holder of the progress lock; completed() by any thread; start between phases.
class TerminationDetection final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{.kind = FrameKind::wave_up, .counted = false},
                                          {.kind = FrameKind::wave_down, .counted = false}};

  // `completed` is called by the engine after each detection.
  TerminationDetection(const ModuleHost& host, Outbox& outbox, std::function<void()> completed);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

  // Before a phase.
  void start();
  // How many detections have been completed.
  std::uint64_t completed() const { return completed_detections_.load(std::memory_order_acquire); }

 private:
  static void add_counts(Bytes& into, const Bytes& from);
  void take_result() LAPSE_REQUIRES(progress_role);

  const ModuleHost& host_;
  Collective wave_;
  std::function<void()> completed_;
  // guarded by the progress lock
  std::optional<IdleLevel> level_ LAPSE_GUARDED_BY(progress_role);  // of the detection that runs
  bool contributed_ LAPSE_GUARDED_BY(progress_role) = false;        // to the wave that runs
  std::uint64_t waves_ LAPSE_GUARDED_BY(progress_role) = 0;         // that have ended
  bool balanced_ LAPSE_GUARDED_BY(progress_role) = true;            // the last wave found no frame in flight
  Quiescence quiescence_ LAPSE_GUARDED_BY(progress_role);
  Contribution contribution_ LAPSE_GUARDED_BY(progress_role);
  // self-synchronised
  std::atomic<std::uint64_t> completed_detections_{0};
};

}  // namespace lapse

// Runs the modules of a rank's protocol.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/dispatcher.hpp"
#include "lapse/protocol/host/failure_broadcast.hpp"
#include "lapse/protocol/host/frame_table.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/host/quiescence.hpp"
#include "lapse/protocol/host/time_source.hpp"
#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// The client of a rank's engine: gives each frame to its module, ends turns in the modules, and sends their
// frames. The host names no module, except the one that reports failures to every rank.
//
// Thread safety: the holder of the progress lock, except failure(). add: before the first message.
// Guarantee: the first failure, local or remote, reaches every rank once and stops every worker.
class ModuleHost : public EngineClient {
 public:
  // `stop_workers`: see FailureBroadcast. `time`: used by all modules.
  ModuleHost(Transport& transport, std::function<void()> stop_workers, const TimeSource& time);
  ModuleHost(const ModuleHost&) = delete;
  ModuleHost& operator=(const ModuleHost&) = delete;

  // The module must outlive the host's last call. Throws ProtocolError if a kind of frames is taken already.
  void add(ProtocolModule& module);

  void handle_packet(Rank from, std::span<const std::byte> packet) override LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool end_submission() override LAPSE_REQUIRES(progress_role);
  void handle_failure(std::exception_ptr failure) noexcept override LAPSE_REQUIRES(progress_role) {
    failures_.report(failure);
  }
  // Returns the earliest deadline of all modules.
  std::optional<ProtocolModule::Clock::time_point> next_deadline() const override
      LAPSE_REQUIRES(progress_role);
  void handle_deadline(ProtocolModule::Clock::time_point now) override LAPSE_REQUIRES(progress_role);

  // True if no module waits for anything. Also true after a failure, when a module might wait indefinitely.
  // Covers neither submissions nor the transport.
  bool idle(IdleLevel level) const LAPSE_REQUIRES(progress_role);
  // Calls hasten of the modules that are not idle, unless some rank has failed.
  void hasten(IdleLevel level) LAPSE_REQUIRES(progress_role);
  // What this rank contributes if it makes a cut now: frames sent and received; busy if not idle at the
  // level.
  QuiescenceCounts counts_at_cut(IdleLevel level, CutNumber::Kind kind) const LAPSE_REQUIRES(progress_role);
  void cut(CutNumber::Kind kind) LAPSE_REQUIRES(progress_role);
  // Begins to count cuts, on every rank. Called between phases.
  void start_cuts() LAPSE_REQUIRES(progress_role);
  QuiescenceCounts frame_counts() const LAPSE_REQUIRES(progress_role) {
    return {.sent = outbox_.counters().frames, .received = dispatcher_.frames_received()};
  }
  const OutboxCounters& sent() const { return outbox_.counters(); }
  const FrameCountsByKind& received_kinds() const LAPSE_REQUIRES(progress_role) {
    return dispatcher_.kinds();
  }
  const Failure& failure() const { return failures_.failure(); }
  // Takes a FailureReport.
  FailureBroadcast& failures() { return failures_; }

  const FrameTable& frames() const { return frames_; }
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }

 private:
  const TimeSource& time_;
  FrameTable frames_;
  Outbox outbox_;
  Dispatcher dispatcher_;
  ProtocolModule::Attention attention_;
  std::vector<ProtocolModule*> modules_;
  FailureBroadcast failures_;
  CutNumber cut_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse

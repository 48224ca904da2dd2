// The interface between a rank's protocol and its modules.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lapse/core/error.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/host/time_source.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

// How frames of a kind travel: ordered as the sender appended them, or free to overtake.
enum class FrameLane : std::uint8_t { ordered, free };

// A kind of frames that a module takes and sends.
struct FrameSpec {
  constexpr FrameSpec(FrameKind its_kind, FrameLane its_lane = FrameLane::ordered)
      : kind(its_kind), lane(its_lane) {}
  // For the frames of termination detection, which it does not count.
  constexpr FrameSpec uncounted() const {
    FrameSpec spec = *this;
    spec.counted = false;
    return spec;
  }

  FrameKind kind;
  FrameLane lane;
  bool counted = true;
};

// How far a rank has quiesced.
enum class IdleLevel : std::uint8_t {
  answered,  // no operation and no relocation waits for anything
  synced,    // and no replica waits to be merged or refreshed
};

// A part of the protocol: its kinds of frames, the submissions that it handles, and its state. A module
// depends on another one only if its constructor takes a reference to it. ModuleHost, which runs the modules,
// depends on none.
//
// Thread safety: the holder of the progress lock, unless a module says otherwise.
class ProtocolModule : public SubmissionHandler {
 public:
  using Clock = std::chrono::steady_clock;

  ProtocolModule() = default;
  ProtocolModule(const ProtocolModule&) = delete;
  ProtocolModule& operator=(const ProtocolModule&) = delete;

  // Constant. Each kind belongs to one module.
  virtual std::span<const FrameSpec> frames() const = 0;

  // A worker has submitted `submission` with this module as its handler. The default throws ProtocolError.
  void handle_submission(Submission&) override LAPSE_REQUIRES(progress_role) {
    throw ProtocolError("a submission to a module that takes none");
  }
  // `records` are header.count records of header.record_bytes bytes, aligned to 8, all within the packet.
  virtual void handle_frame(Rank from, const FrameHeader& header, const std::byte* records)
      LAPSE_REQUIRES(progress_role) = 0;
  // Called after all submissions and packets of an engine turn have been handled and before the appended
  // frames are sent, if the module has called request_end_turn since the last end_turn.
  virtual void end_turn() LAPSE_REQUIRES(progress_role) {}
  // The deadline has passed.
  virtual void handle_deadline(Clock::time_point now) LAPSE_REQUIRES(progress_role) {
    static_cast<void>(now);
  }
  // Returns whether nothing waits in this module.
  virtual bool idle(IdleLevel level) const LAPSE_REQUIRES(progress_role) = 0;
  // Every rank waits until this module, which is not idle at the level, becomes idle: do now what is due at
  // the deadline. Called at the end of every turn until the module is idle: often where the rank's thread
  // polls, possibly only once where nothing happens. So it must be cheap when there is nothing to do, and a
  // module that is not idle afterwards must wait for a frame or have a deadline.
  virtual void hasten(IdleLevel level) LAPSE_REQUIRES(progress_role) { static_cast<void>(level); }

  // When to call the module even without a message or submission; nullopt: never.
  std::optional<Clock::time_point> next_deadline() const LAPSE_REQUIRES(progress_role) { return deadline_; }
  bool wants_end_turn() const LAPSE_REQUIRES(progress_role) { return wants_end_turn_; }
  // The host polls these flags in every turn, so that most turns end without a loop over the modules.
  struct Attention {
    bool end_turn = false;  // some module has requested an end_turn
    bool deadline = false;  // some module has set one
    bool repeat = false;    // see repeat_end_turn
  };
  // Called by the host, which outlives the module's use.
  void attach(Attention& attention, const TimeSource& time) {
    attention_ = &attention;
    time_ = &time;
  }
  void run_end_turn() LAPSE_REQUIRES(progress_role) {
    wants_end_turn_ = false;
    end_turn();
  }

 protected:
  ~ProtocolModule() = default;

  Clock::time_point now() const { return time_->now(); }
  void request_end_turn() LAPSE_REQUIRES(progress_role) {
    wants_end_turn_ = true;
    if (attention_ != nullptr) attention_->end_turn = true;
  }
  // Within end_turn: another module, which waits for what has happened now, has requested an end_turn and may
  // have had it already. Then the modules that have requested one get another one in this turn: possibly no
  // further turn follows.
  void repeat_end_turn() LAPSE_REQUIRES(progress_role) {
    if (attention_ != nullptr) attention_->repeat = true;
  }
  void set_deadline(std::optional<Clock::time_point> deadline) LAPSE_REQUIRES(progress_role) {
    deadline_ = deadline;
    if (attention_ != nullptr && deadline) attention_->deadline = true;
  }

 private:
  Attention* attention_ = nullptr;
  const TimeSource* time_ = &steady_time();
  bool wants_end_turn_ LAPSE_GUARDED_BY(progress_role) = false;
  std::optional<Clock::time_point> deadline_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse

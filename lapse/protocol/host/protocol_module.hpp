// The seam between a rank's protocol and its parts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/host/time_source.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

// How frames of a kind travel: in the order in which the sender decided them, or free to overtake.
enum class FrameLane : std::uint8_t { ordered, free };

// What the arrival of a frame of the kind says to those that wait for this rank.
enum class FrameUse : std::uint8_t {
  work,   // keys are accessed or moved: it brings values, asks for keys, or answers
  other,  // management, questions and collective calls, some of which come when no work goes on, too
};

// A kind of frames that a module takes, and sends.
struct FrameSpec {
  constexpr FrameSpec(FrameKind its_kind, FrameUse its_use, FrameLane its_lane = FrameLane::ordered)
      : kind(its_kind), use(its_use), lane(its_lane) {}
  // Of the frames of termination detection, which it does not count.
  constexpr FrameSpec uncounted() const {
    FrameSpec spec = *this;
    spec.counted = false;
    return spec;
  }

  FrameKind kind;
  FrameUse use;
  FrameLane lane;
  bool counted = true;
};

// How far a rank has quiesced.
enum class IdleLevel : std::uint8_t {
  answered,  // no operation and no relocation waits for anything
  synced,    // and no copy of a value waits to be merged or refreshed
};

// One part of the protocol: its kinds of frames, what workers submit to it, and its state. A module depends
// on other modules only where its constructor takes a reference to them; the host that runs the modules
// depends on none (module_host.hpp).
//
// Thread safety: the holder of the progress lock, unless a module says otherwise.
class ProtocolModule : public SubmissionHandler {
 public:
  using Clock = std::chrono::steady_clock;

  ProtocolModule() = default;
  ProtocolModule(const ProtocolModule&) = delete;
  ProtocolModule& operator=(const ProtocolModule&) = delete;

  // Constant; each kind has one module.
  virtual std::span<const FrameSpec> frames() const = 0;

  // A worker has submitted `submission` with this module as its handler. By default throws ProtocolError.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  // `records` are header.count records of header.record_bytes bytes, aligned to 8, all within the packet.
  virtual void handle_frame(Rank from, const FrameHeader& header, const std::byte* records)
      LAPSE_REQUIRES(progress_role) = 0;
  // All submissions and packets of an engine turn have been handled, and the frames that they appended have
  // not been sent yet. Called when the module has called request_end_turn since the last end_turn.
  virtual void end_turn() LAPSE_REQUIRES(progress_role) {}
  // The deadline has passed.
  virtual void handle_deadline(Clock::time_point now) LAPSE_REQUIRES(progress_role) {
    static_cast<void>(now);
  }
  // Whether nothing waits in this module.
  virtual bool idle(IdleLevel level) const LAPSE_REQUIRES(progress_role) = 0;
  // Every rank waits until this module is idle at the level, which it is not: what it would do at its
  // deadline it should do now. Called at the end of every turn as long as that is so, thus often, where the
  // rank's thread polls, and not again where nothing happens: costs little when there is nothing to do, and a
  // module that is not idle afterwards waits for a frame or has a deadline.
  virtual void hasten(IdleLevel level) LAPSE_REQUIRES(progress_role) { static_cast<void>(level); }

  // When the module wants to be called without a message or submission; nothing: never.
  std::optional<Clock::time_point> next_deadline() const LAPSE_REQUIRES(progress_role) { return deadline_; }
  bool wants_end_turn() const LAPSE_REQUIRES(progress_role) { return wants_end_turn_; }
  // What the host of the modules polls in every turn, so that most turns end without a loop over the modules.
  struct Attention {
    bool end_turn = false;  // some module has requested one
    bool deadline = false;  // some module has set one
  };
  // By the host, which outlives the module's use.
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

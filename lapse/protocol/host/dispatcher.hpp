// Splits packets into frames and gives each frame to the module that takes its kind.
#pragma once

#include <cstdint>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frame_counts.hpp"
#include "lapse/protocol/host/frame_table.hpp"
#include "lapse/protocol/host/quiescence.hpp"

namespace lapse {

// Checks every length before a module sees it. Thread safety: the holder of the progress lock.
class Dispatcher {
 public:
  explicit Dispatcher(const FrameTable& frames) : frames_(frames) {}

  // Throws ProtocolError if the bytes are no sequence of frames, or if no module takes a frame's kind.
  // Rethrows the first exception of a module after the remaining frames have been handled: termination
  // detection needs every frame counted, also after a failure.
  void handle_packet(Rank from, std::span<const std::byte> packet) LAPSE_REQUIRES(progress_role);

  // Excludes the frames of termination detection.
  std::uint64_t frames_received() const LAPSE_REQUIRES(progress_role) { return frames_received_; }
  const FrameCountsByKind& kinds() const LAPSE_REQUIRES(progress_role) { return kinds_; }
  // Whether a counted frame was received that another rank has sent after its next cut of this kind
  // (QuiescenceCounts).
  bool is_overtaken(CutNumber::Kind kind) const LAPSE_REQUIRES(progress_role) { return overtaken(kind); }
  // This rank makes the next cut of this kind.
  void cut(CutNumber::Kind kind) LAPSE_REQUIRES(progress_role) {
    cut_.advance(kind);
    overtaken(kind) = false;
  }
  void start_cuts() LAPSE_REQUIRES(progress_role) {
    cut_ = {};
    wave_is_overtaken_ = barrier_is_overtaken_ = false;
  }

 private:
  bool& overtaken(CutNumber::Kind kind) LAPSE_REQUIRES(progress_role) {
    return kind == CutNumber::Kind::wave ? wave_is_overtaken_ : barrier_is_overtaken_;
  }
  bool overtaken(CutNumber::Kind kind) const LAPSE_REQUIRES(progress_role) {
    return kind == CutNumber::Kind::wave ? wave_is_overtaken_ : barrier_is_overtaken_;
  }
  void compare_cuts(std::uint16_t flags) LAPSE_REQUIRES(progress_role) {
    wave_is_overtaken_ |= cut_.is_behind(flags, CutNumber::Kind::wave);
    barrier_is_overtaken_ |= cut_.is_behind(flags, CutNumber::Kind::barrier);
  }

  const FrameTable& frames_;
  std::uint64_t frames_received_ LAPSE_GUARDED_BY(progress_role) = 0;
  FrameCountsByKind kinds_ LAPSE_GUARDED_BY(progress_role) = {};
  CutNumber cut_ LAPSE_GUARDED_BY(progress_role);
  // Two, because after a failure a rank may make a cut at a barrier while waves run.
  bool wave_is_overtaken_ LAPSE_GUARDED_BY(progress_role) = false;
  bool barrier_is_overtaken_ LAPSE_GUARDED_BY(progress_role) = false;
};

}  // namespace lapse

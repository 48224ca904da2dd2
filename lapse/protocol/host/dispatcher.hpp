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
  // Whether a counted frame was received that another rank has sent after its next cut (QuiescenceCounts).
  bool is_overtaken() const LAPSE_REQUIRES(progress_role) { return is_overtaken_; }
  void set_cut(CutNumber cut) LAPSE_REQUIRES(progress_role) {
    cut_ = cut;
    is_overtaken_ = false;
  }

 private:
  const FrameTable& frames_;
  std::uint64_t frames_received_ LAPSE_GUARDED_BY(progress_role) = 0;
  FrameCountsByKind kinds_ LAPSE_GUARDED_BY(progress_role) = {};
  CutNumber cut_ LAPSE_GUARDED_BY(progress_role);
  bool is_overtaken_ LAPSE_GUARDED_BY(progress_role) = false;
};

}  // namespace lapse

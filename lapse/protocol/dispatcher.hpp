// Takes packets apart and gives each frame to whoever understands its kind.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/protocol/frame_handler.hpp"

namespace lapse {

// Checks every length before a handler sees it. Thread safety: the holder of the progress lock.
class Dispatcher {
 public:
  // At most one handler for a kind; the handler outlives the dispatcher.
  void add_handler(FrameKind kind, FrameHandler& handler);

  // Throws ProtocolError for bytes that are no sequence of frames, or a kind that nobody handles. What a
  // handler throws is thrown again when the frames that follow have been handled: termination detection needs
  // every frame counted, also after a failure.
  void handle_packet(Rank from, std::span<const std::byte> packet);

  // Without those of termination detection.
  std::uint64_t frames_received() const { return frames_received_; }

 private:
  std::array<FrameHandler*, kFrameKinds> handlers_{};
  std::uint64_t frames_received_ = 0;
};

}  // namespace lapse

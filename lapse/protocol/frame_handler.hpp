// The seam between the dispatcher and those who understand a kind of frame.
#pragma once

#include <cstddef>

#include "lapse/core/types.hpp"
#include "lapse/protocol/payloads.hpp"

namespace lapse {

// Registered with the dispatcher for its kinds. Called by the holder of the progress lock.
class FrameHandler {
 public:
  // `records` are header.count records of header.record_bytes bytes, the first aligned to 8, all within the
  // packet.
  virtual void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) = 0;

 protected:
  ~FrameHandler() = default;
};

}  // namespace lapse

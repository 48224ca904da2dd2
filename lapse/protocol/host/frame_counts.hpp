// Counts the frames, records and bytes of each kind that a rank has sent or received.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lapse/protocol/host/frames.hpp"

namespace lapse {

// Bytes include headers, records and padding.
struct FrameCounts {
  std::uint64_t frames = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;

  void add(std::uint32_t more_records, std::size_t more_bytes) {
    ++frames;
    records += more_records;
    bytes += more_bytes;
  }
};

using FrameCountsByKind = std::array<FrameCounts, kFrameKinds>;

}  // namespace lapse

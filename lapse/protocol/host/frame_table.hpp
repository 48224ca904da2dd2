// Stores which module takes each kind of frame, and how the kind travels.
#pragma once

#include <array>
#include <cstddef>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/host/protocol_module.hpp"

namespace lapse {

// Filled before the first message; constant afterwards.
class FrameTable {
 public:
  // Registers the kinds of frames of a module, which must outlive the table. Throws ProtocolError if a kind
  // is taken already or out of range.
  void add(ProtocolModule& module);

  // Null for an unregistered kind.
  ProtocolModule* module(std::uint16_t kind) const { return kind < kFrameKinds ? modules_[kind] : nullptr; }
  // For registered kinds only.
  bool is_free(std::uint16_t kind) const { return free_[kind]; }
  bool is_counted(std::uint16_t kind) const { return counted_[kind]; }

 private:
  std::array<ProtocolModule*, kFrameKinds> modules_{};
  std::array<bool, kFrameKinds> free_{};
  std::array<bool, kFrameKinds> counted_{};
};

}  // namespace lapse

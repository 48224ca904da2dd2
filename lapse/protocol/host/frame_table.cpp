#include "lapse/protocol/host/frame_table.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

void FrameTable::add(ProtocolModule& module) {
  for (const FrameSpec& frame : module.frames()) {
    const auto kind = static_cast<std::size_t>(frame.kind);
    if (kind >= kFrameKinds || modules_[kind] != nullptr) {
      throw ProtocolError(fmt::format("frame kind {} {}", kind,
                                      kind < kFrameKinds ? "has a module already" : "does not exist"));
    }
    modules_[kind] = &module;
    free_[kind] = frame.lane == FrameLane::free;
    counted_[kind] = frame.counted;
  }
}

}  // namespace lapse

// Fake protocol modules, to test the code that runs modules.
#pragma once

#include <span>
#include <vector>

#include "lapse/protocol/host/frame_table.hpp"
#include "lapse/protocol/rank_protocol.hpp"

namespace lapse::test {

// Accepts frames of the given kinds. Tests define how it handles them.
class ModuleStandIn : public ProtocolModule {
 public:
  explicit ModuleStandIn(std::vector<FrameSpec> frames = {}) : frames_(std::move(frames)) {}

  std::span<const FrameSpec> frames() const override { return frames_; }
  void handle_frame(Rank, const FrameHeader&, const std::byte*) override {}
  bool idle(IdleLevel) const override { return true; }

 private:
  std::vector<FrameSpec> frames_;
};

// Every kind that a rank's modules accept, with its lane.
class AllFrames {
 public:
  AllFrames() : module_(all()) { table_.add(module_); }
  const FrameTable& table() const { return table_; }

 private:
  static std::vector<FrameSpec> all() {
    std::vector<FrameSpec> frames{{FrameKind::workers_up}, {FrameKind::workers_down}};
    const auto add = [&](std::span<const FrameSpec> more) {
      frames.insert(frames.end(), more.begin(), more.end());
    };
    add(Access::kFrames);
    add(Relocation::kFrames);
    add(LocalizeRequests::kFrames);
    add(LocalizeAnswers::kFrames);
    add(Leases::kFrames);
    add(FailureBroadcast::kFrames);
    add(TerminationDetection::kFrames);
    return frames;
  }

  ModuleStandIn module_;
  FrameTable table_;
};

inline const FrameTable& all_frames() {
  static const AllFrames frames;
  return frames.table();
}

}  // namespace lapse::test

// Notifies workers that keys that they localized have arrived, or will not arrive.
#pragma once

#include <cstdint>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/table/arrival_table.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// How many keys of a localize have arrived in the domain or were already there.
struct LocalizeAnswerRecord {
  std::uint32_t keys = 0;
};
static_assert(sizeof(LocalizeAnswerRecord) == 4);

// Thread safety: the holder of the progress lock.
class LocalizeAnswers final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::localize_answer, FrameLane::free},
                                          {FrameKind::localize_failed, FrameLane::free}};

  LocalizeAnswers(const Registry& registry, Outbox& outbox) : registry_(registry), outbox_(outbox) {}

  // Notifies the waiter, if any, that `keys` of the keys that it localized have arrived.
  void notify(Waiter waiter, std::uint32_t keys = 1) LAPSE_REQUIRES(progress_role);
  // Notifies the waiter, if any, that a key that it localized will not arrive.
  void fail(Waiter waiter, const TableShard& table, const KeyFailure& failure) LAPSE_REQUIRES(progress_role);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

 private:
  void take_failures(OperationState& operation, const FrameHeader& header, const std::byte* records)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
};

}  // namespace lapse

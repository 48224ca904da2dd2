// Handles the localize requests of workers.
#pragma once

#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/key/localize_answers.hpp"
#include "lapse/protocol/modules/relocation.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// The rank that serves a key localizes it for all workers of the domain. The other ranks send it a message
// and are notified when the key has arrived.
//
// Thread safety: the holder of the progress lock.
class LocalizeRequests final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::localize_for}};

  LocalizeRequests(const Registry& registry, Outbox& outbox, LocalizeAnswers& answers, Relocation& relocation)
      : registry_(registry),
        outbox_(outbox),
        answers_(answers),
        relocation_(relocation),
        keys_(Relocation::kKeysAtOnce) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  // Relocation reports the requests that wait for keys.
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

 private:
  class Batch;

  // For a domain of several ranks.
  void localize_in_domain(const OperationState& operation, Batch& batch) LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  LocalizeAnswers& answers_;
  Relocation& relocation_;
  std::vector<Key> keys_ LAPSE_GUARDED_BY(progress_role);  // scratch memory
};

}  // namespace lapse

// Reports the failure of one rank to all ranks.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/failure.hpp"
#include "lapse/protocol/outbox.hpp"
#include "lapse/protocol/protocol_module.hpp"
#include "lapse/protocol/registry.hpp"

namespace lapse {

// The report of a worker with the exception that its function threw.
struct FailureReport : Submission {
  std::exception_ptr failure;
  std::string reporter;  // such as "worker 3"
};

// Thread safety: the holder of the progress lock, except failure().
// Guarantee: the first failure, local or remote, is sent to every rank once and stops every worker, at its
// next access or wait.
class FailureBroadcast final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::poison, FrameUse::other}};

  FailureBroadcast(const Registry& registry, Outbox& outbox) : registry_(registry), outbox_(outbox) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role) {
    const auto& own = static_cast<FailureReport&>(submission);
    report(own.failure, own.reporter);
  }
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

  // Reports a failure of this rank; it is sent to the other ranks at the end of the turn.
  void report(const std::exception_ptr& failure, std::string_view reporter = {}) noexcept
      LAPSE_REQUIRES(progress_role);
  // Is called with the first failure, if it is one of this rank, in the turn that reports it. Before the
  // first message.
  void set_listener(std::function<void(std::string_view reporter, std::string_view text)> listener) {
    listener_ = std::move(listener);
  }

  const Failure& failure() const { return failure_; }

 private:
  void poison(std::string_view reporter, const std::string& text) LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  std::function<void(std::string_view, std::string_view)> listener_;
  Failure failure_;
};

}  // namespace lapse

// Reports the failure of one rank to all ranks.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/failure.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

// A worker reports the exception that its function threw.
struct FailureReport : Submission {
  std::exception_ptr failure;
  std::optional<std::uint64_t> worker = {};  // among those of all ranks
};

// Thread safety: the holder of the progress lock, except failure().
// Guarantee: the first failure, local or remote, is sent to every rank once and stops every worker at its
// next access or wait, even when out of memory: the memory for the message is reserved at construction.
class FailureBroadcast final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::poison}};

  // `stop_workers` is called once, at the first failure, and does not throw. It must make every worker of
  // this rank notice the failure.
  FailureBroadcast(Rank self, std::int32_t ranks, Outbox& outbox, std::function<void()> stop_workers);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role) {
    const auto& own = static_cast<FailureReport&>(submission);
    report(own.failure, own.worker);
  }
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

  // Reports a failure of this rank. The frames to the other ranks are sent at the end of the turn.
  void report(const std::exception_ptr& failure, std::optional<std::uint64_t> worker = {}) noexcept
      LAPSE_REQUIRES(progress_role);
  // Called if the first failure is one of this rank, in the turn that reports it. `worker`: the worker that
  // failed, if any. Set before the first message.
  using Listener = std::function<void(std::optional<std::uint64_t> worker, std::string_view text)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  const Failure& failure() const { return failure_; }

 private:
  void poison(std::optional<std::uint64_t> worker, std::string_view text) noexcept
      LAPSE_REQUIRES(progress_role);
  void send(Rank to, std::string_view text) noexcept LAPSE_REQUIRES(progress_role);

  const Rank self_;
  const std::int32_t ranks_;
  Outbox& outbox_;
  std::function<void()> stop_workers_;
  Listener listener_;
  Failure failure_;
  std::vector<PacketBuffer> reserved_ LAPSE_GUARDED_BY(progress_role);  // by rank
};

}  // namespace lapse

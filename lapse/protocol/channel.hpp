// The protocol of one rank, put together: what an engine runs.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "lapse/protocol/access.hpp"
#include "lapse/protocol/collective.hpp"
#include "lapse/protocol/dispatcher.hpp"
#include "lapse/protocol/failure.hpp"
#include "lapse/protocol/leases.hpp"
#include "lapse/protocol/localize_requests.hpp"
#include "lapse/protocol/outbox.hpp"
#include "lapse/protocol/owner_lookups.hpp"
#include "lapse/protocol/protocol_context.hpp"
#include "lapse/protocol/quiescence.hpp"
#include "lapse/protocol/relocation.hpp"
#include "lapse/transport/progress_engine.hpp"
#include "lapse/transport/remote_reads.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// What a worker reports when its function has thrown.
struct FailureReport : Submission {
  std::exception_ptr failure;
};

// Thread safety: the holder of the progress lock, except failure().
// Guarantee: the first failure, here or on another rank, reaches every rank once and wakes every worker.
class Channel : public EngineClient, public SubmissionHandler, public FrameHandler {
 public:
  Channel(Transport& transport, const Router& router);

  void handle_packet(Rank from, std::span<const std::byte> packet) override;
  void end_turn() override;
  void handle_failure(std::exception_ptr failure) noexcept override;
  void handle_submission(Submission& submission) override {
    handle_failure(static_cast<FailureReport&>(submission).failure);
  }
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override;

  // Reports a failure of this rank to all ranks, at the end of the turn.
  void poison(const std::string& text);
  const Failure& failure() const { return failure_; }

  // Tables in order of their ids; workers of the phase that runs, by local index. Changed only while no
  // engine runs.
  std::vector<std::unique_ptr<TableState>>& tables() { return tables_; }
  std::vector<std::unique_ptr<WorkerEndpoint>>& workers() { return workers_; }

  // In the order of their numbers; changed only while no engine runs.
  std::vector<std::unique_ptr<RegisteredFunction>>& functions() { return functions_; }

  Access& access() { return access_; }
  Leases& leases() { return leases_; }
  LocalizeRequests& localize_requests() { return localize_requests_; }
  Collective& worker_collective() { return worker_collective_; }
  Collective& wave() { return wave_; }

  // Nothing queued, held or arriving here, except after a failure. Says nothing about submissions and the
  // transport.
  bool passive() const;
  Quiescence::Counts frame_counts() const {
    return {outbox_.counters().frames, dispatcher_.frames_received()};
  }
  const OutboxCounters& sent() const { return outbox_.counters(); }

 private:
  void wake_workers();
  void handle_reads(std::span<const RemoteReads::Finished> reads) noexcept;

  Transport& transport_;
  Outbox outbox_;
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<TableState>> tables_;
  std::vector<std::unique_ptr<WorkerEndpoint>> workers_;
  std::vector<std::unique_ptr<RegisteredFunction>> functions_;
  ProtocolContext context_;
  OwnerLookups lookups_;
  Access access_;
  Relocation relocation_;
  LocalizeRequests localize_requests_;
  Leases leases_;
  Collective worker_collective_;
  Collective wave_;
  Failure failure_;
};

}  // namespace lapse

// Closing and aborting of MpiTransport.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/core/tracing/current_hooks.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/transport.hpp"

namespace lapse {

namespace {

// How long close waits for the MPI library to learn that the last packets have arrived.
constexpr std::chrono::seconds kPatienceWithSends{1};

}  // namespace

std::string MpiTransport::release_requests(std::size_t unsent, std::size_t undelivered) {
  notices_.abandon();
  const std::size_t own = own_packets_.size();
  unsent += sender_->abandon() + rings_->abandon() + (reads_ ? reads_->abandon() : 0);
  undelivered += payloads_->abandon() + ring_->cancel();
  if (own + unsent + undelivered == 0) return {};
  return fmt::format("{} packets to itself, {} unfinished sends or reads, {} received and not delivered", own,
                     unsent, undelivered);
}

void MpiTransport::wait_for_sends() {
  const auto deadline = std::chrono::steady_clock::now() + kPatienceWithSends;
  for (;;) {
    {
      if (host_rings_ != nullptr) host_rings_->advance();
      const MpiGuard guard(lock_);
      sender_->advance();
      rings_->advance();
      if ((host_rings_ == nullptr || host_rings_->all_written()) && sender_->empty() && rings_->idle())
        return;
    }
    if (std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::yield();
  }
}

std::string MpiTransport::drain_rma_receive_rings() {
  const auto deadline = std::chrono::steady_clock::now() + kPatienceWithSends;
  std::size_t undelivered = 0;
  {
    const MpiGuard guard(lock_);
    rings_->return_all_credit();
  }
  for (bool late = false;; std::this_thread::yield()) {
    const MpiGuard guard(lock_);
    rings_->advance();
    MpiReceiveRing::Message message;
    while (ring_->test(message)) undelivered += rings_->accept_credit(message.from, message.bytes) ? 0 : 1;
    if (late || (rings_->all_returned() && rings_->idle())) break;
    late = std::chrono::steady_clock::now() > deadline;
  }
  if (undelivered > 0) return fmt::format("{} received and not delivered", undelivered);
  return rings_->all_returned() ? std::string() : "packets in RMA receive rings that were not handled";
}

void MpiTransport::close(GatherWatch* watch) {
  throw_if_closed("close");
  progress_role.assert_held();  // No engine runs any more.
  wait_for_sends();
  notices_.drain(lock_, watch);
  std::string left;
  if (rings_->in_use()) {
    left = drain_rma_receive_rings();
    rings_->free();
  }
  if (reads_) reads_->free();
  // All ranks have sent what they will send.
  const std::size_t unsent = host_rings_ != nullptr ? host_rings_->abandon() : 0;
  const std::size_t undelivered = host_rings_ != nullptr ? host_rings_->discard_received() : 0;
  bells_ = nullptr;
  host_rings_ = nullptr;
  host_memory_.free();
  shared_memory_.free();
  {
    const MpiGuard guard(lock_);
    if (const std::string requests = release_requests(unsent, undelivered); left.empty()) left = requests;
    int unreceived = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_.get(), &unreceived, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
    if (unreceived && left.empty()) left = "a message that no receive was posted for";
    communicator_.free();
    closed_ = true;
  }
  if (!left.empty()) {
    throw ProtocolError(fmt::format("close on rank {}: the transport is not idle: {}", rank().value(), left));
  }
}

void MpiTransport::abort(const std::string& reason) {
  log_error(rank(), fmt::format("rank {} on {} ends the job: {}", rank().value(), host_name(), reason));
  if (const auto hooks = current_hooks(); hooks->fatal) hooks->fatal(rank(), reason);
  if (!lock_.finalized()) {
    // The job may have to end because of the lock's holder, so wait for the lock only a while.
    constexpr int kAttempts = 10000;
    for (int attempt = 0; attempt < kAttempts && !lock_.try_lock(); ++attempt) std::this_thread::yield();
    MPI_Abort(closed_ ? MPI_COMM_WORLD : communicator_.get(), EXIT_FAILURE);
  }
  std::abort();
}

}  // namespace lapse

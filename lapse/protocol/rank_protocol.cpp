#include "lapse/protocol/rank_protocol.hpp"

#include <exception>

namespace lapse {

RankProtocol::RankProtocol(Transport& transport, const Router& router)
    : ModuleHost(transport),
      lookups_(transport.remote_reads()),
      access_(registry(), outbox(), router, lookups_, key_replication_),
      localize_answers_(registry(), outbox()),
      key_replication_(registry(), outbox(), router, access_, key_relocation_, leases_),
      key_relocation_(registry(), outbox(), access_, localize_answers_, leases_, key_replication_),
      relocation_(registry(), outbox(), localize_answers_, key_relocation_),
      replication_(registry(), outbox(), key_replication_, relocation_, failure()),
      synchronization_(registry(), outbox(), replication_),
      localize_requests_(registry(), outbox(), localize_answers_, relocation_),
      leases_(registry(), outbox(), key_relocation_),
      worker_collective_(outbox(), FrameKind::workers_up, FrameKind::workers_down,
                         [this] { registry().wake_workers(); }),
      stall_inquiry_(registry(), outbox(), replication_, synchronization_),
      stop_requests_(*this, outbox()),
      termination_(*this, outbox(), [this] { registry().wake_workers(); }) {
  add(access_);
  add(localize_answers_);
  add(relocation_);
  add(replication_);
  add(synchronization_);
  add(localize_requests_);
  add(leases_);
  add(worker_collective_);
  add(stall_inquiry_);
  add(stop_requests_);
  // Last: at the end of a turn it counts the frames that the other modules have appended.
  add(termination_);
  if (RemoteReads* const reads = transport.remote_reads())
    reads->set_handler([this](std::span<const RemoteReads::Finished> finished) {
      progress_role.assert_held();  // The transport calls it from poll.
      handle_reads(finished);
    });
}

void RankProtocol::handle_reads(std::span<const RemoteReads::Finished> reads) noexcept {
  // After a failure, some rank may no longer receive messages.
  if (failure().raised()) return;
  try {
    for (const RemoteReads::Finished& read : reads) access_.finish_lookup(read);
  } catch (...) {
    handle_failure(std::current_exception());
  }
}

}  // namespace lapse

#include "lapse/protocol/rank_protocol.hpp"

#include <exception>

namespace lapse {

RankProtocol::RankProtocol(Transport& transport, const Router& router, const TimeSource& time)
    : ModuleHost(
          transport,
          [this] {
            progress_role.assert_held();  // The holder of the lock reports failures.
            registry_.stop_workers();
          },
          time),
      registry_(transport.rank(), transport.ranks()),
      sender_(outbox(), router),
      key_replication_(registry_, outbox(), router, sender_, lease_turns_, key_relocation_),
      lookups_(transport.remote_reads()),
      access_(registry_, outbox(), router, lookups_, sender_, key_replication_.holder),
      localize_answers_(registry_, outbox()),
      key_relocation_(registry_, outbox(), access_, sender_, localize_answers_, lease_turns_,
                      key_replication_),
      relocation_(registry_, outbox(), localize_answers_, key_relocation_),
      replication_(registry_, outbox(), key_replication_, relocation_, failure()),
      synchronization_(registry_, outbox(), replication_),
      levels_(registry_, outbox(), replication_),
      budgets_(registry_, outbox(), levels_),
      localize_requests_(registry_, outbox(), localize_answers_, relocation_),
      leases_(registry_, outbox(), key_relocation_, lease_turns_),
      groups_(registry_, outbox()),
      slot_messages_(outbox()),
      termination_(*this, registry_, outbox(), [this] { registry_.wake_workers(); }),
      stall_inquiry_(registry_, outbox(), replication_, synchronization_, termination_),
      stop_requests_(registry_, outbox(), termination_) {
  access_.set_wants(replication_);
  add(access_);
  add(localize_answers_);
  add(relocation_);
  add(replication_);
  add(synchronization_);
  add(levels_);
  add(budgets_);
  add(localize_requests_);
  add(leases_);
  add(groups_);
  add(slot_messages_);
  add(stall_inquiry_);
  add(stop_requests_);
  // Last: at the end of a turn, it counts the frames that the other modules have appended.
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

#include "lapse/protocol/rank_protocol.hpp"

#include <exception>

namespace lapse {

RankProtocol::RankProtocol(Transport& transport, const Router& router)
    : ModuleHost(transport),
      lookups_(transport),
      access_(registry(), outbox(), router, lookups_),
      localize_answers_(registry(), outbox()),
      relocation_(registry(), outbox(), access_, localize_answers_, leases_),
      localize_requests_(registry(), outbox(), localize_answers_, relocation_),
      leases_(registry(), outbox(), relocation_),
      worker_collective_(outbox(), FrameKind::workers_up, FrameKind::workers_down,
                         [this] { registry().wake_workers(); }),
      termination_(*this, outbox(), [this] { registry().wake_workers(); }) {
  add(access_);
  add(localize_answers_);
  add(relocation_);
  add(localize_requests_);
  add(leases_);
  add(worker_collective_);
  // Last: at the end of a turn it counts what the others have produced.
  add(termination_);
  transport.set_read_handler([this](std::span<const Transport::FinishedRead> reads) { handle_reads(reads); });
}

void RankProtocol::handle_reads(std::span<const Transport::FinishedRead> reads) noexcept {
  // After a failure, some rank may not receive any more what would be sent now.
  if (failure().raised()) return;
  try {
    for (const Transport::FinishedRead& read : reads) access_.finish_lookup(read);
  } catch (...) {
    handle_failure(std::current_exception());
  }
}

}  // namespace lapse

#include "lapse/protocol/channel.hpp"

#include <algorithm>
#include <cstring>

namespace lapse {

Channel::Channel(Transport& transport, const Router& router)
    : transport_(transport),
      outbox_(transport),
      context_{transport.rank(), transport.ranks(), router, outbox_, tables_, workers_, functions_},
      lookups_(transport.remote_reads()),
      access_(context_, lookups_),
      relocation_(context_, access_),
      localize_requests_(context_, relocation_),
      leases_(context_, relocation_),
      worker_collective_(outbox_, FrameKind::workers_up, FrameKind::workers_down, [this] { wake_workers(); }),
      wave_(outbox_, FrameKind::wave_up, FrameKind::wave_down, [] {}) {
  for (const FrameKind kind :
       {FrameKind::pull, FrameKind::push, FrameKind::set, FrameKind::call, FrameKind::pull_answer,
        FrameKind::push_answer, FrameKind::call_answer, FrameKind::failed_answer}) {
    dispatcher_.add_handler(kind, access_);
  }
  for (const FrameKind kind : {FrameKind::localize, FrameKind::instruct, FrameKind::transfer}) {
    dispatcher_.add_handler(kind, relocation_);
  }
  dispatcher_.add_handler(FrameKind::localize_for, localize_requests_);
  dispatcher_.add_handler(FrameKind::localize_answer, localize_requests_);
  for (const FrameKind kind : {FrameKind::lease_request, FrameKind::lease_grant, FrameKind::lease_release}) {
    dispatcher_.add_handler(kind, leases_);
  }
  dispatcher_.add_handler(FrameKind::workers_up, worker_collective_);
  dispatcher_.add_handler(FrameKind::workers_down, worker_collective_);
  dispatcher_.add_handler(FrameKind::wave_up, wave_);
  dispatcher_.add_handler(FrameKind::wave_down, wave_);
  dispatcher_.add_handler(FrameKind::poison, *this);
  if (RemoteReads* const reads = transport.remote_reads()) {
    reads->set_handler([this](std::span<const RemoteReads::Finished> finished) { handle_reads(finished); });
  }
}

void Channel::handle_reads(std::span<const RemoteReads::Finished> reads) noexcept {
  // After a failure, nobody may take in any more what would be sent now.
  if (failure_.raised()) return;
  try {
    for (const RemoteReads::Finished& read : reads) access_.finish_lookup(read);
  } catch (...) {
    handle_failure(std::current_exception());
  }
}

void Channel::handle_packet(Rank from, std::span<const std::byte> packet) {
  dispatcher_.handle_packet(from, packet);
}

void Channel::end_turn() {
  try {
    leases_.resume();
  } catch (...) {
    handle_failure(std::current_exception());
  }
  outbox_.flush();
}

void Channel::wake_workers() {
  for (const auto& worker : workers_) worker->bell().ring();
}

void Channel::handle_failure(std::exception_ptr failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    poison(error.what());
  } catch (...) {
    poison("unknown exception");
  }
}

void Channel::poison(const std::string& text) {
  if (!failure_.raise(context_.self_rank, text)) return;
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::poison);
  header.origin = context_.self_rank.value();
  header.record_bytes = static_cast<std::uint32_t>(text.size());
  for (std::int32_t rank = 0; rank < context_.ranks; ++rank) {
    if (rank == context_.self_rank.value()) continue;
    std::memcpy(outbox_.append(Rank(rank), header), text.data(), text.size());
  }
  wake_workers();
}

void Channel::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  failure_.raise(Rank(header.origin), std::string(reinterpret_cast<const char*>(records),
                                                  std::size_t{header.count} * header.record_bytes));
  wake_workers();
}

bool Channel::passive() const {
  if (!outbox_.empty()) return false;
  // After a failure some of it may wait for ever: for what the failing rank has not done.
  if (failure_.raised()) return true;
  return access_.held() == 0 && std::all_of(tables_.begin(), tables_.end(),
                                            [](const auto& table) { return table->arrivals.in_use() == 0; });
}

}  // namespace lapse

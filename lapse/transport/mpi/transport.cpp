#include "lapse/transport/mpi/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/transport/gather_watch.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/windows/rma_start.hpp"

namespace lapse {

namespace {

// A busy receiver polls its unfinished sends once per this many packets; an idle one at every poll.
constexpr std::size_t kPacketsBetweenSends = 16;

// If no MPI message is expected, one poll in this many still enters MPI: the library may have to help other
// ranks with earlier calls.
constexpr std::size_t kPollsBetweenTests = 64;

// Marks that a handler may be running, even if it throws.
class PollingMark {
 public:
  explicit PollingMark(bool& polling) : polling_(polling) {
    if (polling_) throw UsageError("poll was called by a handler that poll had called");
    polling_ = true;
  }
  ~PollingMark() { polling_ = false; }
  PollingMark(const PollingMark&) = delete;
  PollingMark& operator=(const PollingMark&) = delete;

 private:
  bool& polling_;
};

}  // namespace

MpiTransport::MpiTransport(MPI_Comm communicator, const MpiTransportSettings& settings)
    : communicator_(communicator, settings.making_report),
      settings_(agree_on_settings(communicator_, settings)),
      lock_(communicator_.lock()),
      notices_(communicator_.get(), rank(), ranks()),
      host_memory_(communicator_, settings_, pool_),
      bells_(host_memory_.bells()),
      host_rings_(host_memory_.rings()),
      shared_memory_(communicator_) {
  if (!host_memory_.problem().empty()) shared_memory_.set_problem(host_memory_.problem());
  make_rma_receive_rings();
  const MPI_Comm duplicate = communicator_.get();
  const MpiGuard guard(lock_);
  sender_.emplace(communicator_, settings_, pool_);
  payloads_.emplace(duplicate, ranks(), settings_, pool_);
  ring_.emplace(duplicate, settings_.ring_buffers, settings_.eager_bytes_to(host_ranks() == ranks()));
}

void MpiTransport::make_rma_receive_rings() {
  progress_role.assert_held();  // No engine runs yet.
  RmaStart start = start_rma(communicator_, settings_);
  if (start.remote_reads) reads_.emplace(communicator_, settings_.rma_test_limit, bells_);
  rings_.emplace(communicator_, std::move(start), settings_.rma_smallest_bytes, pool_, bells_);
}

std::size_t MpiTransport::buffer_bytes() const {
  return ring_->bytes() + rings_->bytes() + host_memory_.bytes();
}

MpiTransport::~MpiTransport() {
  if (closed_) return;
  if (lock_.finalized()) {
    // MPI is finalized and uses no buffer any more.
    return;
  }
  try {
    const MpiGuard guard(lock_);
    release_requests(0, 0);
  } catch (const std::exception& error) {
    log_error(rank(),
              fmt::format("rank {} could not free its MPI requests: {}", rank().value(), error.what()));
  }
}

void MpiTransport::throw_if_closed(const char* call) const {
  if (closed_) [[unlikely]] {
    throw ClosedError(fmt::format("{} on rank {}: the transport is closed", call, rank().value()));
  }
  throw_if_ended(call);
}

void MpiTransport::throw_if_ended(const char* call) const {
  if (lock_.finalized()) [[unlikely]] {
    throw MpiStateError(fmt::format(
        "{} on rank {}: MPI is already finalized: call close() before MPI_Finalize", call, rank().value()));
  }
}

PacketBuffer MpiTransport::begin_packet(Rank to, Lane, std::size_t bytes) {
  if (host_rings_ != nullptr && to != rank() && !rings_->in_use() && host_rings_->reaches(to)) {
    PacketBuffer packet = host_rings_->begin(to, bytes, std::max(bytes, packet_bytes(to)));
    if (packet.capacity() > 0) return packet;
  }
  return pool_.acquire();
}

void MpiTransport::send(Rank to, PacketBuffer packet, Lane lane) {
  throw_if_closed("send");
  if (to == rank()) {
    own_packets_.push(std::move(packet));
    return;
  }
  if (to.value() < 0 || to.value() >= ranks()) [[unlikely]] {
    throw UsageError(fmt::format("send on rank {} to rank {}: the communicator has the ranks 0 to {}",
                                 rank().value(), to.value(), ranks() - 1));
  }
  if (lane == Lane::bulk && rings_->in_use()) {
    const MpiGuard guard(lock_);
    if (rings_->send(to, packet)) return;
  }
  if (host_rings_ != nullptr && host_rings_->reaches(to)) {
    host_rings_->send(to, std::move(packet));
    return;
  }
  {
    const MpiGuard guard(lock_);
    sender_->send(to, std::move(packet));
  }
  if (bells_ != nullptr) bells_->ring(to);
}

bool MpiTransport::uses_mpi() const {
  return host_rings_ == nullptr || host_ranks() < ranks() || host_rings_->has_unused() || !sender_->empty() ||
         !payloads_->empty() || rings_->in_use() || reads_;
}

std::size_t MpiTransport::poll(const Handler& handler, std::size_t limit) {
  throw_if_closed("poll");
  const PollingMark mark(polling_);
  // This rank, the other ranks of its host, and MPI come first in turn: none starves another, even if each
  // has more packets than the limit.
  first_ = static_cast<Source>((static_cast<int>(first_) + 1) % 3);
  std::size_t delivered = first_ == Source::own ? deliver_own(handler, limit) : 0;
  const bool host_before_mpi = first_ != Source::mpi || !uses_mpi();
  const std::size_t from_host = host_before_mpi ? deliver_from_host(handler, limit - delivered) : 0;
  delivered += from_host;
  if ((from_host == 0 || delivered < limit) &&
      (uses_mpi() || ++polls_without_mpi_ % kPollsBetweenTests == 0)) {
    delivered += deliver_from_mpi(handler, limit - delivered);
    if (!host_before_mpi && delivered < limit) delivered += deliver_from_host(handler, limit - delivered);
  }
  if (!own_packets_.empty() && delivered < limit) delivered += deliver_own(handler, limit - delivered);
  if (reads_ && reads_->deliver()) ++delivered;
  return delivered;
}

std::size_t MpiTransport::deliver_from_mpi(const Handler& handler, std::size_t limit) {
  std::size_t delivered = 0;
  for (std::size_t taken = 0;; ++taken) {
    delivered += deliver_payloads(handler, limit - delivered);
    const bool may_take = delivered < limit && taken < limit;
    MpiReceiveRing::Message message;
    bool arrived = false;
    {
      const MpiGuard guard(lock_);
      if (may_take) arrived = ring_->test(message);
      if (!sender_->empty() && (!arrived || ++packets_since_sends_ >= kPacketsBetweenSends)) {
        sender_->advance();
        packets_since_sends_ = 0;
      }
      if (!payloads_->empty()) payloads_->advance();
      if (rings_->in_use() && !rings_->idle()) rings_->advance();
      if (reads_ && !reads_->idle()) reads_->advance();
    }
    if (!arrived) break;
    delivered += accept(message, handler);
    if (delivered >= limit) break;
  }
  return delivered;
}

std::size_t MpiTransport::deliver_from_host(const Handler& handler, std::size_t limit) {
  if (host_rings_ == nullptr) return 0;
  host_rings_->advance();
  std::size_t delivered = 0;
  HostRings::Message message;
  while (delivered < limit && host_rings_->take(message)) {
    // Its space is freed even if the handler throws.
    struct Release {
      HostRings& rings;
      ~Release() { rings.release(); }
    } const release{*host_rings_};
    ++delivered;
    handler(message.from, message.packet);
  }
  return delivered;
}

std::size_t MpiTransport::deliver_own(const Handler& handler, std::size_t limit) {
  // Packets that the handler sends meanwhile wait for the next turn.
  const std::size_t count = std::min(limit, own_packets_.size());
  for (std::size_t i = 0; i < count; ++i) {
    PacketBuffer packet = own_packets_.pop();
    handler(rank(), packet.bytes());
    pool_.release(std::move(packet));
  }
  return count;
}

std::size_t MpiTransport::deliver_payloads(const Handler& handler, std::size_t limit) {
  if (payloads_->empty()) [[likely]] {
    return 0;
  }
  std::size_t delivered = 0;
  while (delivered < limit) {
    std::optional<MpiPayloadReceiver::Packet> packet = payloads_->take_ready();
    if (!packet) break;
    handler(packet->from, packet->buffer.bytes());
    pool_.release(std::move(packet->buffer));
    ++delivered;
  }
  return delivered;
}

std::size_t MpiTransport::accept_packet(Rank from, std::span<const std::byte> packet,
                                        const Handler& handler) {
  if (payloads_->is_waiting(from)) {
    payloads_->wait_behind(from, packet);
    return 0;
  }
  handler(from, packet);
  return 1;
}

void MpiTransport::accept_announcement(Rank from, std::span<const std::byte> announcement) {
  const std::size_t largest = eager_packet_bytes(from);
  std::uint64_t bytes = 0;
  const bool has_size = announcement.size() == sizeof bytes;
  if (has_size) std::memcpy(&bytes, announcement.data(), sizeof bytes);
  if (!has_size || bytes <= largest) {
    throw ProtocolError(fmt::format(
        "an announcement of {} bytes from rank {} on rank {} announces {} bytes, expected more than {}",
        announcement.size(), from.value(), rank().value(), bytes, largest));
  }
  payloads_->announce(from, bytes);
}

std::size_t MpiTransport::accept(const MpiReceiveRing::Message& message, const Handler& handler) {
  const auto fail = [&](std::string_view problem) {
    throw ProtocolError(fmt::format("a message of {} bytes from rank {} on rank {} {}", message.bytes.size(),
                                    message.from.value(), rank().value(), problem));
  };
  if (message.bytes.size() < mpi_wire::kKindBytes) fail("has no kind");
  const auto packet = message.bytes.first(message.bytes.size() - mpi_wire::kKindBytes);
  switch (static_cast<mpi_wire::Kind>(message.bytes.back())) {
    case mpi_wire::Kind::packet:
      return accept_packet(message.from, packet, handler);
    case mpi_wire::Kind::ring_note:
      return accept_note(message.from, packet, handler);
    case mpi_wire::Kind::announcement:
      accept_announcement(message.from, packet);
      return 0;
  }
  fail(fmt::format("has the unknown kind {}", static_cast<int>(message.bytes.back())));
  return 0;
}

std::size_t MpiTransport::accept_note(Rank from, std::span<const std::byte> note, const Handler& handler) {
  MpiRmaReceiveRings::Payload packet;
  {
    const MpiGuard guard(lock_);
    packet = rings_->accept(from, note);
  }
  if (packet.empty()) return 0;
  const auto give_back = [&] {
    const MpiGuard guard(lock_);
    rings_->consumed(from);
  };
  try {
    handler(from, packet);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
  return 1;
}

std::vector<std::vector<std::byte>> MpiTransport::all_gather(std::span<const std::byte> mine,
                                                             GatherWatch* watch) {
  throw_if_closed("all_gather");
  notices_.begin();
  if (watch == nullptr || watch->patience() == GatherWatch::Duration::zero())
    return all_gather_polled(lock_, communicator_.get(), mine, [this](auto) { exchange_notices(false); });
  // Other waiting ranks have a second, or half of the patience, to answer before the report.
  constexpr GatherWatch::Duration kAnswers = std::chrono::seconds(1);
  GatherWatch::Duration due = watch->patience();
  const GatherWatch::Duration announced_at = due - std::min(kAnswers, due / 2);
  bool announced = false;
  return all_gather_polled(lock_, communicator_.get(), mine, [&](GatherWatch::Duration waited) {
    const bool announces = !announced && waited >= announced_at;
    exchange_notices(announces);
    announced = announced || announces;
    if (waited < due) return;
    const std::vector<Rank> missing = notices_.missing();
    if (!missing.empty()) watch->report(waited, missing);
    due += watch->patience();
  });
}

void MpiTransport::exchange_notices(bool announces) {
  const MpiGuard guard(lock_);
  if (announces) notices_.announce();
  notices_.advance();
}

}  // namespace lapse

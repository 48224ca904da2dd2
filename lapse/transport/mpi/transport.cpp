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
#include "lapse/transport/mpi/collectives.hpp"
#include "lapse/transport/mpi/error.hpp"
#include "lapse/transport/mpi/rma_start.hpp"

namespace lapse {

namespace {

// A busy receiver polls its unfinished sends once in so many packets; an idle one at every poll.
constexpr std::size_t kPacketsBetweenSends = 16;

// How long close waits for the MPI library to learn that the last packets have arrived.
constexpr std::chrono::seconds kPatienceWithSends{1};

// Marks that a handler may be running, also when it throws.
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
    : communicator_(communicator),
      settings_(agree_on_settings(communicator_, settings)),
      lock_(communicator_.lock()),
      notices_(communicator_.get(), rank(), ranks()),
      doorbell_memory_(communicator_.host(), lock_),
      shared_memory_(communicator_) {
  make_doorbells();
  make_rma_receive_rings();
  const MPI_Comm duplicate = communicator_.get();
  const MpiGuard guard(lock_);
  sender_.emplace(duplicate, ranks(), settings_, pool_);
  payloads_.emplace(duplicate, ranks(), settings_, pool_);
  ring_.emplace(duplicate, settings_);
}

void MpiTransport::make_doorbells() {
  if (host_ranks() == 1) return;
  const auto lines = static_cast<std::size_t>(host_ranks()) * HostDoorbells::kLineBytes;
  try {
    std::byte* const memory = doorbell_memory_.allocate(lines);
    MpiSharedWindows::populate(memory, lines);
    bells_.emplace(memory, communicator_.hosts(), rank());
  } catch (const Error& error) {
    shared_memory_.set_problem(error.what());
  }
}

void MpiTransport::make_rma_receive_rings() {
  progress_role.assert_held();  // No engine runs yet.
  RmaStart start = start_rma(communicator_, settings_);
  HostDoorbells* const bells = bells_ ? &*bells_ : nullptr;
  if (start.remote_reads) reads_.emplace(communicator_, settings_.rma_test_limit, bells);
  rings_.emplace(communicator_, std::move(start), settings_.rma_smallest_bytes, pool_, bells);
}

MpiTransport::~MpiTransport() {
  if (closed_) return;
  if (lock_.finalized()) {
    // MPI is finalized and uses no buffer any more.
    return;
  }
  try {
    const MpiGuard guard(lock_);
    release_requests();
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
  {
    const MpiGuard guard(lock_);
    if (lane == Lane::bulk && rings_->send(to, packet)) return;
    sender_->send(to, std::move(packet));
  }
  if (bells_) bells_->ring(to);
}

std::size_t MpiTransport::poll(const Handler& handler, std::size_t limit) {
  throw_if_closed("poll");
  const PollingMark mark(polling_);
  // Neither a rank that sends to itself without end nor a busy network may shut out the other.
  own_packets_first_ = !own_packets_first_;
  std::size_t delivered = own_packets_first_ ? deliver_own(handler, limit) : 0;
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
  if (!own_packets_.empty() && delivered < limit) delivered += deliver_own(handler, limit - delivered);
  if (reads_ && reads_->deliver()) ++delivered;
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

std::size_t MpiTransport::accept(const MpiReceiveRing::Message& message, const Handler& handler) {
  const auto fail = [&](std::string_view problem) {
    throw ProtocolError(fmt::format("a message of {} bytes from rank {} on rank {} {}", message.bytes.size(),
                                    message.from.value(), rank().value(), problem));
  };
  if (message.bytes.size() < mpi_wire::kKindBytes) fail("has no kind");
  const auto packet = message.bytes.first(message.bytes.size() - mpi_wire::kKindBytes);
  switch (static_cast<mpi_wire::Kind>(message.bytes.back())) {
    case mpi_wire::Kind::packet:
      if (payloads_->is_waiting(message.from)) {
        payloads_->wait_behind(message.from, packet);
        return 0;
      }
      handler(message.from, packet);
      return 1;
    case mpi_wire::Kind::ring_note:
      return accept_note(message.from, packet, handler);
    case mpi_wire::Kind::announcement: {
      if (message.bytes.size() != mpi_wire::kAnnouncementBytes) fail("is not an announcement");
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, packet.data(), sizeof bytes);
      if (bytes <= eager_packet_bytes()) fail(fmt::format("announces only {} bytes", bytes));
      payloads_->announce(message.from, bytes);
      return 0;
    }
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
  // The ranks that wait too have a second to answer before the report, or half of the time.
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

std::string MpiTransport::release_requests() {
  notices_.abandon();
  const std::size_t own = own_packets_.size();
  const std::size_t unsent = sender_->abandon() + rings_->abandon() + (reads_ ? reads_->abandon() : 0);
  const std::size_t undelivered = payloads_->abandon() + ring_->cancel();
  if (own + unsent + undelivered == 0) return {};
  return fmt::format("{} packets to itself, {} unfinished sends or reads, {} received and not delivered", own,
                     unsent, undelivered);
}

void MpiTransport::wait_for_sends() {
  const auto deadline = std::chrono::steady_clock::now() + kPatienceWithSends;
  for (;;) {
    {
      const MpiGuard guard(lock_);
      sender_->advance();
      rings_->advance();
      if (sender_->empty() && rings_->idle()) return;
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
  bells_.reset();
  doorbell_memory_.free();
  shared_memory_.free();
  {
    const MpiGuard guard(lock_);
    if (const std::string requests = release_requests(); left.empty()) left = requests;
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
  if (!lock_.finalized()) {
    // The holder of the lock may be the reason why the job must end: wait for the lock a while only.
    constexpr int kAttempts = 10000;
    for (int attempt = 0; attempt < kAttempts && !lock_.try_lock(); ++attempt) std::this_thread::yield();
    MPI_Abort(closed_ ? MPI_COMM_WORLD : communicator_.get(), EXIT_FAILURE);
  }
  std::abort();
}

}  // namespace lapse

#include "lapse/transport/mpi_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi_collectives.hpp"
#include "lapse/transport/mpi_error.hpp"
#include "lapse/transport/mpi_rma_start.hpp"

namespace lapse {

namespace {

// A busy receiver looks at its unfinished sends once in so many packets; an idle one always.
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
      host_memory_(communicator_.host(), lock_) {
  make_doorbells();
  make_landing_rings();
  const MPI_Comm duplicate = communicator_.get();
  const std::lock_guard guard(lock_);
  sender_.emplace(duplicate, ranks(), settings_, pool_);
  payloads_.emplace(duplicate, ranks(), settings_, pool_);
  ring_.emplace(duplicate, settings_);
}

void MpiTransport::make_doorbells() {
  if (host_ranks() == 1) return;
  const auto lines = static_cast<std::size_t>(host_ranks()) * HostDoorbells::kLineBytes;
  try {
    std::byte* const memory = host_memory_.allocate(lines);
    MpiSharedMemory::populate(memory, lines);
    bells_.emplace(memory, communicator_.hosts(), rank());
  } catch (const Error& error) {
    shared_memory_problem_ = error.what();
  }
}

void MpiTransport::make_landing_rings() {
  RmaStart start = start_rma(communicator_, settings_);
  bulk_lane_report_ = std::move(start.report);
  if (start.remote_reads) reads_.emplace(communicator_, settings_.rma_test_limit);
  if (!start.window) return;
  landing_.emplace(communicator_, start.layout, std::move(*start.window), settings_.landing_smallest_bytes,
                   pool_, [this](Rank to) {
                     if (bells_) bells_->ring(to);
                   });
}

void MpiTransport::join_group(std::int32_t group) {
  throw_if_closed("join_group");
  barrier_polled(lock_, communicator_.get());
  const std::lock_guard guard(lock_);
  check_mpi(MPI_Comm_split(communicator_.get(), group, rank().value(), &group_), "MPI_Comm_split");
  check_mpi(MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  group_memory_.emplace(group_, lock_);
}

MpiTransport::~MpiTransport() {
  if (closed_) return;
  if (lock_.finalized()) {
    // MPI is gone and uses no buffer any more.
    return;
  }
  try {
    const std::lock_guard guard(lock_);
    release_requests();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lapse: rank %d could not free its MPI requests: %s\n", rank().value(),
                 error.what());
  }
}

void MpiTransport::throw_if_closed(const char* call) const {
  if (closed_) [[unlikely]] {
    throw ClosedError(fmt::format("{} on rank {}: the transport is closed", call, rank().value()));
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
    const std::lock_guard guard(lock_);
    if (lane == Lane::bulk && landing_ && landing_->send(to, packet)) return;
    sender_->send(to, std::move(packet));
  }
  if (bells_) bells_->ring(to);
}

void MpiTransport::begin_read(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) {
  throw_if_closed("begin_read");
  {
    const std::lock_guard guard(lock_);
    reads_.value().begin(from, number, offset, tag);
  }
  // Its MPI may have to answer.
  if (bells_) bells_->ring(from);
}

std::size_t MpiTransport::poll(const Handler& handler, std::size_t limit) {
  throw_if_closed("poll");
  const PollingMark mark(polling_);
  // Neither a rank that talks to itself without end nor a busy network may shut out the other.
  own_packets_first_ = !own_packets_first_;
  std::size_t delivered = own_packets_first_ ? deliver_own(handler, limit) : 0;
  for (std::size_t taken = 0;; ++taken) {
    delivered += deliver_payloads(handler, limit - delivered);
    const bool may_take = delivered < limit && taken < limit;
    MpiReceiveRing::Message message;
    bool arrived = false;
    {
      const std::lock_guard guard(lock_);
      if (may_take) arrived = ring_->test(message);
      if (!sender_->empty() && (!arrived || ++packets_since_sends_ >= kPacketsBetweenSends)) {
        sender_->advance();
        packets_since_sends_ = 0;
      }
      if (!payloads_->empty()) payloads_->advance();
      if (landing_ && !landing_->idle()) landing_->advance();
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
    case mpi_wire::Kind::landing:
      if (!landing_) fail("speaks of landing rings, which this rank has not");
      return accept_landing(message.from, packet, handler);
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

std::size_t MpiTransport::accept_landing(Rank from, std::span<const std::byte> note, const Handler& handler) {
  MpiLandingRings::Landed packet;
  {
    const std::lock_guard guard(lock_);
    packet = landing_->accept(from, note);
  }
  if (packet.empty()) return 0;
  const auto give_back = [&] {
    const std::lock_guard guard(lock_);
    landing_->consumed(from);
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

std::vector<std::vector<std::byte>> MpiTransport::all_gather(std::span<const std::byte> mine) {
  throw_if_closed("all_gather");
  return all_gather_polled(lock_, communicator_.get(), mine);
}

std::string MpiTransport::release_requests() {
  const std::size_t own = own_packets_.size();
  const std::size_t unsent =
      sender_->abandon() + (landing_ ? landing_->abandon() : 0) + (reads_ ? reads_->abandon() : 0);
  const std::size_t undelivered = payloads_->abandon() + ring_->cancel();
  if (own + unsent + undelivered == 0) return {};
  return fmt::format("{} packets to itself, {} unfinished sends or reads, {} received and not delivered", own,
                     unsent, undelivered);
}

void MpiTransport::wait_for_sends() {
  const auto deadline = std::chrono::steady_clock::now() + kPatienceWithSends;
  for (;;) {
    {
      const std::lock_guard guard(lock_);
      sender_->advance();
      if (landing_) landing_->advance();
      if (sender_->empty() && (!landing_ || landing_->idle())) return;
    }
    if (std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::yield();
  }
}

std::string MpiTransport::empty_landing_rings() {
  const auto deadline = std::chrono::steady_clock::now() + kPatienceWithSends;
  std::size_t undelivered = 0;
  {
    const std::lock_guard guard(lock_);
    landing_->return_all_credit();
  }
  for (bool late = false;; std::this_thread::yield()) {
    const std::lock_guard guard(lock_);
    landing_->advance();
    MpiReceiveRing::Message message;
    while (ring_->test(message)) undelivered += landing_->accept_credit(message.from, message.bytes) ? 0 : 1;
    if (late || (landing_->all_returned() && landing_->idle())) break;
    late = std::chrono::steady_clock::now() > deadline;
  }
  if (undelivered > 0) return fmt::format("{} received and not delivered", undelivered);
  return landing_->all_returned() ? std::string() : "packets in landing rings that were not handled";
}

void MpiTransport::close() {
  throw_if_closed("close");
  wait_for_sends();
  barrier_polled(lock_, communicator_.get());
  std::string left;
  if (landing_) {
    left = empty_landing_rings();
    landing_->free();
  }
  if (reads_) reads_->free();
  bells_.reset();
  host_memory_.free();
  if (group_memory_) group_memory_->free();
  {
    const std::lock_guard guard(lock_);
    if (const std::string requests = release_requests(); left.empty()) left = requests;
    int unreceived = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_.get(), &unreceived, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
    if (unreceived && left.empty()) left = "a message that no receive was posted for";
    if (group_ != MPI_COMM_NULL) check_mpi(MPI_Comm_free(&group_), "MPI_Comm_free");
    communicator_.free();
    closed_ = true;
  }
  if (!left.empty()) {
    throw ProtocolError(fmt::format("close on rank {}: the transport is not idle: {}", rank().value(), left));
  }
}

void MpiTransport::abort(const std::string& reason) {
  std::fprintf(stderr, "lapse: rank %d on %s ends the job: %s\n", rank().value(), host_name().c_str(),
               reason.c_str());
  std::fflush(stderr);
  if (!lock_.finalized()) {
    // The holder of the lock may be the reason why the job must end: wait for it a while only.
    constexpr int kAttempts = 10000;
    for (int attempt = 0; attempt < kAttempts && !lock_.try_lock(); ++attempt) std::this_thread::yield();
    MPI_Abort(closed_ ? MPI_COMM_WORLD : communicator_.get(), EXIT_FAILURE);
  }
  std::abort();
}

}  // namespace lapse

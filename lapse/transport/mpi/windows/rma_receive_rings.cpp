#include "lapse/transport/mpi/windows/rma_receive_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/error.hpp"

namespace lapse {

MpiRmaReceiveRings::MpiRmaReceiveRings(const MpiCommunicator& communicator, RmaStart start,
                                       std::size_t smallest_bytes, BufferPool& pool, HostDoorbells* bells)
    : communicator_(communicator),
      ring_bytes_(start.layout.ring_bytes()),
      smallest_bytes_(smallest_bytes),
      report_(std::move(start.report)),
      window_(std::move(start.window)),
      pool_(pool),
      bells_(bells),
      peers_(static_cast<std::size_t>(communicator.ranks())) {
  if (!window_) return;
  window_bytes_ = start.layout.window_bytes(communicator.rank());
  for (std::int32_t rank = 0; rank < communicator.ranks(); ++rank) {
    const auto remote = start.layout.offset(communicator.rank(), Rank(rank));
    const auto local = start.layout.offset(Rank(rank), communicator.rank());
    if (!remote || !local) continue;
    peers_[Rank(rank).index()].emplace(
        Peer{*remote, *local, RmaReceiveRingWriter(ring_bytes_), RmaReceiveRingReader(ring_bytes_)});
  }
}

bool MpiRmaReceiveRings::send(Rank to, PacketBuffer& packet) {
  std::optional<Peer>& peer = peers_[to.index()];
  if (!peer || packet.size() < smallest_bytes_) return false;
  const std::optional<RmaRingSlot> slot = peer->writer.reserve(packet.size());
  if (!slot) return false;
  window_->put(packet.bytes(), to, peer->remote_offset + slot->begin % ring_bytes_);
  putting_.push_back({to, *slot, std::move(packet)});
  return true;
}

void MpiRmaReceiveRings::advance() {
  // The first payload for a receiver flushes all payloads to it.
  for (std::size_t i = 0; i < putting_.size(); ++i) {
    const Rank to = putting_[i].to;
    const auto is_same = [to](const Putting& other) { return other.to == to; };
    const auto current = putting_.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::none_of(putting_.begin(), current, is_same)) window_->flush(to);
    send_note(to, *peers_[to.index()], putting_[i].slot, putting_[i].packet.size());
    pool_.release(std::move(putting_[i].packet));
  }
  putting_.clear();
  notes_.test([this](PacketBuffer note, const MPI_Status&) { pool_.release(std::move(note)); });
}

void MpiRmaReceiveRings::send_note(Rank to, Peer& peer, const RmaRingSlot& slot, std::size_t bytes) {
  const mpi_wire::RingNote note{peer.reader.take_credit(), slot.begin, bytes};
  PacketBuffer message = pool_.acquire();
  std::memcpy(message.extend(sizeof note), &note, sizeof note);
  *message.extend(mpi_wire::kKindBytes) = static_cast<std::byte>(mpi_wire::Kind::ring_note);
  const std::span<const std::byte> sent = message.bytes();
  notes_.start(std::move(message), [&]() LAPSE_REQUIRES(mpi_role) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, to.value(), mpi_wire::kEagerTag,
                        communicator_.get(), &request),
              "MPI_Isend");
    return request;
  });
  if (bells_ != nullptr) bells_->ring(to);
}

MpiRmaReceiveRings::Peer& MpiRmaReceiveRings::peer(Rank from) {
  std::optional<Peer>& peer = peers_[from.index()];
  if (!peer)
    throw ProtocolError(fmt::format("rank {} has no RMA receive ring and sent a note", from.value()));
  return *peer;
}

MpiRmaReceiveRings::Payload MpiRmaReceiveRings::accept(Rank from, std::span<const std::byte> note) {
  mpi_wire::RingNote received;
  if (note.size() != sizeof received) {
    throw ProtocolError(fmt::format("a ring note of {} bytes from rank {}, expected {}", note.size(),
                                    from.value(), sizeof received));
  }
  std::memcpy(&received, note.data(), sizeof received);
  Peer& sender = peer(from);
  sender.writer.credit(received.consumed);
  if (received.bytes == 0) return {};
  const std::size_t offset = sender.local_offset + sender.reader.arrived(received.begin, received.bytes);
  window_->sync();
  return {window_->memory() + offset, received.bytes};
}

void MpiRmaReceiveRings::consumed(Rank from) {
  Peer& sender = peer(from);
  sender.reader.consumed();
  ++received_packets_;
  if (sender.reader.owes_credit()) send_note(from, sender, {}, 0);
}

void MpiRmaReceiveRings::return_all_credit() {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!peers_[rank] || !peers_[rank]->reader.owes_anything()) continue;
    send_note(Rank(static_cast<std::int32_t>(rank)), *peers_[rank], {}, 0);
  }
}

bool MpiRmaReceiveRings::all_returned() const {
  return std::ranges::all_of(peers_, [](const auto& peer) { return !peer || peer->writer.all_consumed(); });
}

bool MpiRmaReceiveRings::accept_credit(Rank from, std::span<const std::byte> message) {
  if (message.size() != mpi_wire::kRingNoteBytes || !peers_[from.index()] ||
      message.back() != static_cast<std::byte>(mpi_wire::Kind::ring_note)) {
    return false;
  }
  mpi_wire::RingNote note;
  std::memcpy(&note, message.data(), sizeof note);
  peers_[from.index()]->writer.credit(note.consumed);
  return note.bytes == 0;
}

std::size_t MpiRmaReceiveRings::abandon() {
  const std::size_t packets = putting_.size();
  // MPI may still read from unflushed buffers, and a flush might wait indefinitely: leak them.
  if (packets > 0) static_cast<void>(new std::vector<Putting>(std::move(putting_)));
  putting_.clear();
  notes_.abandon(false, [](PacketBuffer note) { static_cast<void>(new PacketBuffer(std::move(note))); });
  return packets;
}

}  // namespace lapse

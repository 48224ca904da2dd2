#include "lapse/transport/mpi_landing_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi_error.hpp"

namespace lapse {

MpiLandingRings::MpiLandingRings(const MpiCommunicator& communicator, const LandingLayout& layout,
                                 MpiRmaWindow window, std::size_t smallest_bytes, BufferPool& pool,
                                 OnSent on_sent)
    : communicator_(communicator),
      ring_bytes_(layout.ring_bytes()),
      smallest_bytes_(smallest_bytes),
      window_(std::move(window)),
      pool_(pool),
      on_sent_(std::move(on_sent)),
      peers_(static_cast<std::size_t>(communicator.ranks())) {
  for (std::int32_t rank = 0; rank < communicator.ranks(); ++rank) {
    const auto there = layout.offset(communicator.rank(), Rank(rank));
    const auto here = layout.offset(Rank(rank), communicator.rank());
    if (!there || !here) continue;
    peers_[Rank(rank).index()].emplace(
        Peer{*there, *here, LandingWriter(ring_bytes_), LandingReader(ring_bytes_)});
  }
}

bool MpiLandingRings::send(Rank to, PacketBuffer& packet) {
  std::optional<Peer>& peer = peers_[to.index()];
  if (!peer || packet.size() < smallest_bytes_) return false;
  const std::optional<LandingPlace> place = peer->writer.reserve(packet.size());
  if (!place) return false;
  window_.put(packet.bytes(), to, peer->offset_there + place->begin % ring_bytes_);
  putting_.push_back({to, *place, std::move(packet)});
  return true;
}

void MpiLandingRings::advance() {
  // The first of a receiver's payloads flushes for all of them.
  for (std::size_t i = 0; i < putting_.size(); ++i) {
    const Rank to = putting_[i].to;
    const auto is_same = [to](const Putting& other) { return other.to == to; };
    const auto here = putting_.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::none_of(putting_.begin(), here, is_same)) window_.flush(to);
    send_note(to, *peers_[to.index()], putting_[i].place, putting_[i].packet.size());
    pool_.release(std::move(putting_[i].packet));
  }
  putting_.clear();
  notes_.test([this](PacketBuffer note, const MPI_Status&) { pool_.release(std::move(note)); });
}

void MpiLandingRings::send_note(Rank to, Peer& peer, const LandingPlace& place, std::size_t bytes) {
  const mpi_wire::LandingNote note{peer.reader.take_credit(), place.begin, bytes};
  PacketBuffer message = pool_.acquire();
  std::memcpy(message.extend(sizeof note), &note, sizeof note);
  *message.extend(mpi_wire::kKindBytes) = static_cast<std::byte>(mpi_wire::Kind::landing);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, to.value(),
                      mpi_wire::kEagerTag, communicator_.get(), &request),
            "MPI_Isend");
  notes_.add(request, std::move(message));
  on_sent_(to);
}

MpiLandingRings::Peer& MpiLandingRings::peer(Rank from) {
  std::optional<Peer>& peer = peers_[from.index()];
  if (!peer) throw ProtocolError(fmt::format("rank {} has no landing ring and sent a note", from.value()));
  return *peer;
}

MpiLandingRings::Landed MpiLandingRings::accept(Rank from, std::span<const std::byte> note) {
  mpi_wire::LandingNote said;
  if (note.size() != sizeof said) {
    throw ProtocolError(fmt::format("a landing note of {} bytes from rank {}, expected {}", note.size(),
                                    from.value(), sizeof said));
  }
  std::memcpy(&said, note.data(), sizeof said);
  Peer& sender = peer(from);
  sender.writer.credit(said.consumed);
  if (said.bytes == 0) return {};
  const std::size_t offset = sender.offset_here + sender.reader.arrived(said.begin, said.bytes);
  window_.sync();
  return {window_.memory() + offset, said.bytes};
}

void MpiLandingRings::consumed(Rank from) {
  Peer& sender = peer(from);
  sender.reader.consumed();
  ++landed_payloads_;
  if (sender.reader.owes_credit()) send_note(from, sender, {}, 0);
}

void MpiLandingRings::return_all_credit() {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!peers_[rank] || !peers_[rank]->reader.owes_anything()) continue;
    send_note(Rank(static_cast<std::int32_t>(rank)), *peers_[rank], {}, 0);
  }
}

bool MpiLandingRings::all_returned() const {
  return std::ranges::all_of(peers_, [](const auto& peer) { return !peer || peer->writer.all_consumed(); });
}

bool MpiLandingRings::accept_credit(Rank from, std::span<const std::byte> message) {
  if (message.size() != mpi_wire::kLandingNoteBytes || !peers_[from.index()] ||
      message.back() != static_cast<std::byte>(mpi_wire::Kind::landing)) {
    return false;
  }
  mpi_wire::LandingNote note;
  std::memcpy(&note, message.data(), sizeof note);
  peers_[from.index()]->writer.credit(note.consumed);
  return note.bytes == 0;
}

std::size_t MpiLandingRings::abandon() {
  const std::size_t packets = putting_.size();
  // MPI may still read from what has not been flushed, and a flush might wait for ever.
  if (packets > 0) static_cast<void>(new std::vector<Putting>(std::move(putting_)));
  putting_.clear();
  notes_.abandon(false, [](PacketBuffer note) { static_cast<void>(new PacketBuffer(std::move(note))); });
  return packets;
}

}  // namespace lapse

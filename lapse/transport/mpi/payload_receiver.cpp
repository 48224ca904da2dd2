#include "lapse/transport/mpi/payload_receiver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/wire.hpp"

namespace lapse {

MpiPayloadReceiver::MpiPayloadReceiver(MPI_Comm communicator, std::int32_t ranks,
                                       const MpiTransportSettings& settings, BufferPool& pool)
    : communicator_(communicator),
      fragment_bytes_(settings.fragment_bytes),
      fragments_in_flight_(settings.fragments_in_flight),
      pool_(pool),
      senders_(static_cast<std::size_t>(ranks)) {
  active_.reserve(senders_.size());
}

void MpiPayloadReceiver::announce(Rank from, std::uint64_t bytes) {
  Waiting packet{.buffer = pool_.acquire(), .missing = bytes};
  const bool has_memory = allocate(packet);
  if (!has_memory) packet.refused_at = Clock::now();
  add(from, std::move(packet));
  if (!has_memory)
    throw OutOfMemory(fmt::format("no memory for a packet of {} bytes from rank {}", bytes, from.value()));
}

bool MpiPayloadReceiver::allocate(Waiting& packet) {
  if (packet.missing == 0) return true;
  try {
    packet.buffer.reserve(packet.missing);
  } catch (const std::bad_alloc&) {
    return false;
  }
  packet.buffer.extend(std::exchange(packet.missing, 0));
  return true;
}

void MpiPayloadReceiver::wait_behind(Rank from, std::span<const std::byte> packet) {
  Waiting waiting{.buffer = pool_.acquire(), .posted = packet.size(), .received = packet.size()};
  waiting.buffer.append(packet);
  add(from, std::move(waiting));
}

void MpiPayloadReceiver::add(Rank from, Waiting packet) {
  Sender& sender = senders_[from.index()];
  if (sender.packets.empty()) active_.push_back(from);
  sender.packets.push(std::move(packet));
}

void MpiPayloadReceiver::advance() {
  requests_.test([this](const Fragment& fragment, const MPI_Status& status)
                     LAPSE_REQUIRES(mpi_role) { fragment_arrived(fragment, status); });
  for (const Rank from : active_) post_fragments(from);
}

void MpiPayloadReceiver::post_fragments(Rank from) {
  Sender& sender = senders_[from.index()];
  while (sender.in_flight < fragments_in_flight_) {
    const std::uint64_t index = sender.next_to_post - sender.first_number;
    if (index == sender.packets.size()) return;
    Waiting& packet = sender.packets[index];
    if (!allocate(packet)) [[unlikely]] {
      if (Clock::now() - packet.refused_at < kPatience) return;
      throw Error(fmt::format("no memory for a packet of {} bytes from rank {} for {} s", packet.missing,
                              from.value(), kPatience.count()));
    }
    if (packet.posted == packet.buffer.size()) {
      ++sender.next_to_post;
      continue;
    }
    const std::size_t bytes = std::min(fragment_bytes_, packet.buffer.size() - packet.posted);
    requests_.start(Fragment{from, sender.next_to_post, bytes}, [&]() LAPSE_REQUIRES(mpi_role) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Irecv(packet.buffer.data() + packet.posted, static_cast<int>(bytes), MPI_BYTE,
                          from.value(), mpi_wire::kFragmentTag, communicator_, &request),
                "MPI_Irecv");
      return request;
    });
    packet.posted += bytes;
    ++sender.in_flight;
  }
}

void MpiPayloadReceiver::fragment_arrived(const Fragment& fragment, const MPI_Status& status) {
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  if (static_cast<std::size_t>(bytes) != fragment.bytes) {
    throw ProtocolError(fmt::format("a fragment from rank {} has {} bytes, expected {}",
                                    fragment.from.value(), bytes, fragment.bytes));
  }
  Sender& sender = senders_[fragment.from.index()];
  --sender.in_flight;
  sender.packets[fragment.packet_number - sender.first_number].received += fragment.bytes;
}

std::optional<MpiPayloadReceiver::Packet> MpiPayloadReceiver::take_ready() {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Rank from = active_[i];
    Sender& sender = senders_[from.index()];
    const Waiting& first = sender.packets.front();
    if (first.missing > 0 || first.received < first.buffer.size()) continue;
    Packet packet{from, sender.packets.pop().buffer};
    ++sender.first_number;
    sender.next_to_post = std::max(sender.next_to_post, sender.first_number);
    if (sender.packets.empty()) {
      active_[i] = active_.back();
      active_.pop_back();
    }
    return packet;
  }
  return std::nullopt;
}

std::size_t MpiPayloadReceiver::abandon() {
  bool memory_in_use = false;
  requests_.abandon(true, [&](const Fragment&) { memory_in_use = true; });
  std::size_t packets = 0;
  for (const Rank from : active_) packets += senders_[from.index()].packets.size();
  // Fragments that could not be cancelled still arrive in these buffers, so leak them.
  if (memory_in_use) static_cast<void>(new std::vector<Sender>(std::move(senders_)));
  senders_.clear();
  active_.clear();
  return packets;
}

}  // namespace lapse

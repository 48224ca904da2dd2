#include "lapse/transport/mpi/sender.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "lapse/transport/mpi/library/error.hpp"

namespace lapse {

MpiSender::MpiSender(const MpiCommunicator& communicator, const MpiTransportSettings& settings,
                     BufferPool& pool)
    : communicator_(communicator.get()),
      fragment_bytes_(settings.fragment_bytes),
      fragments_in_flight_(settings.fragments_in_flight),
      pool_(pool),
      destinations_(static_cast<std::size_t>(communicator.ranks())) {
  waiting_destinations_.reserve(destinations_.size());
  for (std::size_t rank = 0; rank < destinations_.size(); ++rank)
    destinations_[rank].eager_bytes =
        settings.eager_bytes_to(communicator.same_host(Rank(static_cast<std::int32_t>(rank))));
}

void MpiSender::send(Rank to, PacketBuffer packet) {
  if (packet.size() + mpi_wire::kKindBytes <= destinations_[to.index()].eager_bytes) [[likely]] {
    send_eager(to, std::move(packet), mpi_wire::Kind::packet);
    return;
  }
  PacketBuffer announcement = pool_.acquire();
  const std::uint64_t size = packet.size();
  std::memcpy(announcement.extend(sizeof size), &size, sizeof size);
  send_eager(to, std::move(announcement), mpi_wire::Kind::announcement);
  send_fragments(to, std::move(packet));
}

void MpiSender::send_fragments(Rank to, PacketBuffer packet) {
  if (free_slots_.empty()) {
    payloads_.emplace_back();
    free_slots_.push_back(static_cast<std::uint32_t>(payloads_.size() - 1));
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  payloads_[index] = Payload{std::move(packet), to, 0, 0};
  ++unfinished_payloads_;

  Destination& destination = destinations_[to.index()];
  const bool was_waiting = !destination.payloads.empty();
  destination.payloads.push(index);
  begin_fragments(destination);
  if (!was_waiting && !destination.payloads.empty()) waiting_destinations_.push_back(to);
  // A long series of sends also advances the earlier payloads.
  if (unfinished_payloads_ > 1) advance();
}

void MpiSender::send_eager(Rank to, PacketBuffer message, mpi_wire::Kind kind) {
  *message.extend(mpi_wire::kKindBytes) = static_cast<std::byte>(kind);
  const std::span<const std::byte> sent = message.bytes();
  requests_.start(Sending{std::move(message), kNoPayload}, [&]() LAPSE_REQUIRES(mpi_role) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_BYTE, to.value(), mpi_wire::kEagerTag,
                        communicator_, &request),
              "MPI_Isend");
    return request;
  });
}

void MpiSender::begin_fragments(Destination& destination) {
  while (destination.in_flight < fragments_in_flight_ && !destination.payloads.empty()) {
    const std::uint32_t index = destination.payloads.front();
    Payload& payload = payloads_[index];
    const std::size_t bytes = std::min(fragment_bytes_, payload.buffer.size() - payload.next_offset);
    requests_.start(Sending{{}, index}, [&]() LAPSE_REQUIRES(mpi_role) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Isend(payload.buffer.data() + payload.next_offset, static_cast<int>(bytes), MPI_BYTE,
                          payload.to.value(), mpi_wire::kFragmentTag, communicator_, &request),
                "MPI_Isend");
      return request;
    });
    payload.next_offset += bytes;
    ++payload.in_flight;
    ++destination.in_flight;
    if (payload.next_offset == payload.buffer.size()) destination.payloads.pop();
  }
}

void MpiSender::advance() {
  while (requests_.test([this](Sending sending, const MPI_Status&) {
    if (sending.payload == kNoPayload) {
      pool_.release(std::move(sending.message));
    } else {
      fragment_done(sending.payload);
    }
  })) {
  }
  std::erase_if(waiting_destinations_, [this](Rank to) LAPSE_REQUIRES(mpi_role) {
    Destination& destination = destinations_[to.index()];
    begin_fragments(destination);
    return destination.payloads.empty();
  });
}

void MpiSender::fragment_done(std::uint32_t index) {
  Payload& payload = payloads_[index];
  --destinations_[payload.to.index()].in_flight;
  --payload.in_flight;
  if (payload.in_flight > 0 || payload.next_offset < payload.buffer.size()) return;
  pool_.release(std::move(payload.buffer));
  free_slots_.push_back(index);
  --unfinished_payloads_;
}

std::size_t MpiSender::abandon() {
  std::size_t packets = unfinished_payloads_;
  bool payload_lost = false;
  requests_.abandon(false, [&](Sending sending) {
    if (sending.payload != kNoPayload) {
      payload_lost = true;
      return;
    }
    ++packets;
    static_cast<void>(new PacketBuffer(std::move(sending.message)));
  });
  if (payload_lost) static_cast<void>(new std::vector<Payload>(std::move(payloads_)));
  payloads_.clear();
  unfinished_payloads_ = 0;
  waiting_destinations_.clear();
  return packets;
}

}  // namespace lapse

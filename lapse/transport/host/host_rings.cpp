#include "lapse/transport/host/host_rings.hpp"

#include <algorithm>
#include <utility>

namespace lapse {

HostRings::HostRings(std::byte* memory, const HostRingsLayout& layout, std::span<const std::int32_t> hosts,
                     Rank self, HostDoorbells* bells, BufferPool& pool, Populate populate)
    : ring_bytes_(layout.ring_bytes()),
      largest_message_(host_ring::largest_message(layout.capacity())),
      bells_(bells),
      pool_(pool),
      populate_(std::move(populate)),
      destinations_(hosts.size()) {
  // Ranks of the host are numbered in rank order.
  std::size_t own_number = 0;
  for (std::size_t rank = 0; rank < self.index(); ++rank) {
    if (hosts[rank] == hosts[self.index()]) ++own_number;
  }
  std::size_t number = 0;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] != hosts[self.index()]) continue;
    if (number != own_number) {
      const HostRingMemory to = layout.ring(memory, own_number, number);
      destinations_[rank] = {.state = State::new_ring,
                             .writer = HostRingWriter(to),
                             .ring = reinterpret_cast<std::byte*>(to.consumed),
                             .waiting = {}};
      senders_.push_back(
          {Rank(static_cast<std::int32_t>(rank)), HostRingReader(layout.ring(memory, number, own_number))});
    }
    ++number;
  }
}

bool HostRings::open(Rank to) {
  Destination& destination = destinations_[to.index()];
  const bool opened = populate_(destination.ring, ring_bytes_);
  destination.state = opened ? State::open : State::unused;
  if (!opened) {
    destination.writer.leave_unused();
    if (bells_ != nullptr) bells_->ring(to);
  }
  return opened;
}

PacketBuffer HostRings::begin(Rank to, std::size_t least, std::size_t most) {
  Destination& destination = destinations_[to.index()];
  if (!destination.waiting.empty() || least > largest_message_) [[unlikely]] {
    return {};
  }
  const std::span<std::byte> room = destination.writer.reserve(least, std::min(most, largest_message_));
  if (room.data() == nullptr) return {};
  // The space is rounded up to whole lines.
  return PacketBuffer::in_place(room.data(), std::min(room.size(), largest_message_));
}

void HostRings::send(Rank to, host_ring::Kind kind, PacketBuffer message) {
  Destination& destination = destinations_[to.index()];
  if (message.in_place() && destination.writer.reserved(message.data())) [[likely]] {
    destination.writer.publish(kind, message.size());
    if (bells_ != nullptr) bells_->ring(to);
    return;
  }
  if (!destination.waiting.empty()) [[unlikely]] {
    destination.waiting.push({kind, std::move(message)});
    write_waiting();
    return;
  }
  if (!destination.writer.write(kind, message.bytes())) {
    destination.waiting.push({kind, std::move(message)});
    waiting_destinations_.push_back(to);
    return;
  }
  pool_.release(std::move(message));
  if (bells_ != nullptr) bells_->ring(to);
}

bool HostRings::write_waiting(Rank to) {
  Destination& destination = destinations_[to.index()];
  bool written = false;
  while (!destination.waiting.empty()) {
    Waiting& first = destination.waiting.front();
    if (!destination.writer.write(first.kind, first.message.bytes())) break;
    pool_.release(destination.waiting.pop().message);
    written = true;
  }
  if (written && bells_ != nullptr) bells_->ring(to);
  return destination.waiting.empty();
}

void HostRings::write_waiting() {
  std::erase_if(waiting_destinations_, [this](Rank to) { return write_waiting(to); });
}

bool HostRings::take(Message& message) {
  std::size_t index = taken_;
  for (std::size_t step = 0; step < senders_.size(); ++step) {
    index = index + 1 >= senders_.size() ? 0 : index + 1;
    Sender& sender = senders_[index];
    if (!sender.reader.has_message()) [[likely]] {
      continue;
    }
    if (sender.reader.found_unused()) {
      has_unused_ = true;
      continue;
    }
    message = {sender.rank, sender.reader.message()};
    taken_ = index;
    return true;
  }
  return false;
}

std::size_t HostRings::discard_received() {
  std::size_t messages = 0;
  for (Message message; take(message); release()) ++messages;
  return messages;
}

std::size_t HostRings::abandon() {
  std::size_t packets = 0;
  for (const Rank to : waiting_destinations_) {
    Fifo<Waiting>& waiting = destinations_[to.index()].waiting;
    for (; !waiting.empty(); waiting.pop()) {
      // An announced packet is counted with its fragments.
      if (waiting.front().kind == host_ring::Kind::packet) ++packets;
    }
  }
  waiting_destinations_.clear();
  return packets;
}

}  // namespace lapse

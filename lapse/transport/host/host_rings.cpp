#include "lapse/transport/host/host_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse {

using host_ring::Kind;

namespace {

// Of a large packet. Small enough that both sides copy at the same time and a piece stays in the cache that
// they share.
constexpr std::size_t kPieceBytes = std::size_t{32} << 10;
// Of one sender, before others have their turn: about as many as a ring has.
constexpr int kMessagesAtOnce = 16;

}  // namespace

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
      senders_.push_back({Rank(static_cast<std::int32_t>(rank)),
                          HostRingReader(layout.ring(memory, number, own_number)),
                          {}});
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

void HostRings::send(Rank to, PacketBuffer packet) {
  Destination& destination = destinations_[to.index()];
  if (packet.in_place() && destination.writer.reserved(packet.data())) [[likely]] {
    destination.writer.publish(Kind::packet, packet.size());
    if (bells_ != nullptr) bells_->ring(to);
    return;
  }
  if (destination.waiting.empty()) [[likely]] {
    if (packet.size() <= largest_message_ && destination.writer.write(Kind::packet, packet.bytes())) {
      pool_.release(std::move(packet));
      if (bells_ != nullptr) bells_->ring(to);
      return;
    }
    waiting_destinations_.push_back(to);
  }
  destination.waiting.push({.packet = std::move(packet)});
  write_waiting();
}

bool HostRings::write(Destination& destination, Waiting& waiting) const {
  const std::span<const std::byte> packet = waiting.packet.bytes();
  if (packet.size() <= largest_message_) return destination.writer.write(Kind::packet, packet);
  if (!waiting.announced) {
    const std::uint64_t bytes = packet.size();
    waiting.announced = destination.writer.write(Kind::announcement, std::as_bytes(std::span(&bytes, 1)));
    if (!waiting.announced) return false;
  }
  while (waiting.written < packet.size()) {
    const std::size_t bytes = std::min({kPieceBytes, largest_message_, packet.size() - waiting.written});
    if (!destination.writer.write(Kind::piece, packet.subspan(waiting.written, bytes))) return false;
    waiting.written += bytes;
  }
  return true;
}

bool HostRings::write_waiting(Rank to) {
  Destination& destination = destinations_[to.index()];
  const std::uint64_t before = destination.writer.written();
  while (!destination.waiting.empty() && write(destination, destination.waiting.front()))
    pool_.release(destination.waiting.pop().packet);
  if (destination.writer.written() != before && bells_ != nullptr) bells_->ring(to);
  return destination.waiting.empty();
}

void HostRings::write_waiting() {
  std::erase_if(waiting_destinations_, [this](Rank to) { return write_waiting(to); });
}

bool HostRings::take_from(Sender& sender, std::span<const std::byte>& packet) {
  AnnouncedPacket& announced = sender.announced;
  for (int messages = 0; messages < kMessagesAtOnce && sender.reader.has_message(); ++messages) {
    if (sender.reader.found_unused()) {
      has_unused_ = true;
      return false;
    }
    if (announced.lacks_memory() && !announced.allocate(sender.rank)) [[unlikely]] {
      return false;
    }
    const HostRingMessage message = sender.reader.message();
    if (message.kind == Kind::packet) [[likely]] {
      if (announced.in_progress()) {
        throw ProtocolError(
            fmt::format("a packet from rank {} within an announced one", sender.rank.value()));
      }
      packet = message.bytes;
      return true;
    }
    // What the message says is copied; its space is freed even if that throws.
    struct Release {
      HostRingReader& reader;
      ~Release() { reader.release(); }
    } const release{sender.reader};
    if (message.kind == Kind::piece) {
      announced.append(message.bytes, sender.rank);
      if (!announced.complete()) continue;
      packet = announced.bytes();
      return true;
    }
    // A packet without memory is in progress, too.
    if (!announced.in_progress()) ++incomplete_;
    announced.announce(message.bytes, largest_message_, pool_.acquire(), sender.rank);
  }
  return false;
}

bool HostRings::take(Message& message) {
  std::size_t index = taken_;
  for (std::size_t step = 0; step < senders_.size(); ++step) {
    index = index + 1 >= senders_.size() ? 0 : index + 1;
    Sender& sender = senders_[index];
    if (!sender.reader.has_message()) [[likely]] {
      continue;
    }
    if (!take_from(sender, message.packet)) continue;
    message.from = sender.rank;
    taken_ = index;
    return true;
  }
  return false;
}

void HostRings::release() {
  Sender& sender = senders_[taken_];
  if (sender.announced.complete()) [[unlikely]] {
    pool_.release(sender.announced.take());
    --incomplete_;
    return;
  }
  sender.reader.release();
}

std::size_t HostRings::discard_received() {
  std::size_t packets = 0;
  for (Sender& sender : senders_) {
    if (sender.announced.in_progress()) ++packets;
    while (sender.reader.has_message() && !sender.reader.found_unused()) {
      if (sender.reader.message().kind != Kind::piece) ++packets;
      sender.reader.release();
    }
  }
  return packets;
}

std::size_t HostRings::abandon() {
  std::size_t packets = 0;
  for (const Rank to : waiting_destinations_) {
    Fifo<Waiting>& waiting = destinations_[to.index()].waiting;
    // The receiver counts those that were announced.
    for (; !waiting.empty(); waiting.pop()) packets += waiting.front().announced ? 0 : 1;
  }
  waiting_destinations_.clear();
  return packets;
}

}  // namespace lapse

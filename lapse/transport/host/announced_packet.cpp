#include "lapse/transport/host/announced_packet.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "lapse/core/error.hpp"

namespace lapse {

void AnnouncedPacket::announce(std::span<const std::byte> announcement, std::uint64_t largest,
                               PacketBuffer buffer, Rank from) {
  std::uint64_t bytes = 0;
  const bool has_size = announcement.size() == sizeof bytes;
  if (has_size) std::memcpy(&bytes, announcement.data(), sizeof bytes);
  if (!has_size || bytes <= largest || in_progress()) {
    throw ProtocolError(
        fmt::format("an announcement of {} bytes from rank {} announces {} bytes, expected more than {}{}",
                    announcement.size(), from.value(), bytes, largest,
                    in_progress() ? ", after the packet announced before" : ""));
  }
  bytes_ = bytes;
  buffer_ = std::move(buffer);
  refused_since_.reset();
  if (reserve()) return;
  throw OutOfMemory(fmt::format("no memory for a packet of {} bytes from rank {}", bytes, from.value()));
}

bool AnnouncedPacket::reserve() {
  try {
    buffer_.reserve(bytes_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

bool AnnouncedPacket::allocate(Rank from) {
  if (reserve()) return true;
  const Clock::time_point now = Clock::now();
  if (!refused_since_) refused_since_ = now;
  if (now - *refused_since_ < kPatience) return false;
  throw Error(fmt::format("no memory for a packet of {} bytes from rank {} for {} s", bytes_, from.value(),
                          kPatience.count()));
}

void AnnouncedPacket::append(std::span<const std::byte> piece, Rank from) {
  const std::uint64_t missing = bytes_ - buffer_.size();
  if (piece.empty() || piece.size() > missing) {
    throw ProtocolError(fmt::format("a piece of {} bytes from rank {}, of whose packet {} bytes are missing",
                                    piece.size(), from.value(), missing));
  }
  buffer_.append(piece);
}

}  // namespace lapse

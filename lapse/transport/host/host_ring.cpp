#include "lapse/transport/host/host_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lapse/core/error.hpp"

namespace lapse {

using host_ring::Header;
using host_ring::Kind;

namespace {

// No message crosses the end of the ring. (A division would take longer than a short message's copy.)
constexpr std::uint64_t offset_after(std::uint64_t end, std::uint64_t capacity) {
  return end == capacity ? 0 : end;
}

}  // namespace

bool HostRingWriter::has_room(std::uint64_t end) {
  if (end - consumed_ <= ring_.capacity) [[likely]] {
    return true;
  }
  // The receiver has read what it released, so it may be overwritten.
  consumed_ = ring_.consumed->load(std::memory_order_acquire);
  return end - consumed_ <= ring_.capacity;
}

std::span<std::byte> HostRingWriter::reserve(std::uint64_t least, std::uint64_t most) {
  const std::uint64_t left = ring_.capacity - offset_;
  const bool gap = host_ring::occupied(least) > left;
  const std::uint64_t begin = gap ? written_ + left : written_;
  const std::uint64_t bytes = std::min(host_ring::occupied(most), gap ? ring_.capacity : left);
  if (!has_room(begin + bytes)) return {};
  begin_ = begin;
  place_ = ring_.bytes + (gap ? 0 : offset_);
  return {place_ + sizeof(Header), bytes - sizeof(Header)};
}

void HostRingWriter::publish(Kind kind, std::uint64_t bytes) {
  if (begin_ != written_) {
    const Header gap;
    std::memcpy(ring_.bytes + offset_, &gap, sizeof gap);
  }
  const Header header{bytes, kind};
  std::memcpy(place_, &header, sizeof header);
  written_ = begin_ + host_ring::occupied(bytes);
  offset_ = offset_after(static_cast<std::uint64_t>(place_ - ring_.bytes) + host_ring::occupied(bytes),
                         ring_.capacity);
  ring_.published->store(written_, std::memory_order_release);
}

bool HostRingWriter::write(Kind kind, std::span<const std::byte> message) {
  const std::span<std::byte> room = reserve(message.size(), message.size());
  if (room.data() == nullptr) return false;
  if (!message.empty()) std::memcpy(room.data(), message.data(), message.size());
  publish(kind, message.size());
  return true;
}

HostRingMessage HostRingReader::message() {
  const std::uint64_t published = ring_.published->load(std::memory_order_acquire);
  std::uint64_t begin = position_;
  std::uint64_t offset = offset_;
  Header header;
  std::memcpy(&header, ring_.bytes + offset, sizeof header);
  if (header.kind == Kind::gap) {
    begin += ring_.capacity - offset;
    offset = 0;
    if (begin >= published) refuse(header, published);
    std::memcpy(&header, ring_.bytes, sizeof header);
  }
  const bool known =
      header.kind == Kind::packet || header.kind == Kind::announcement || header.kind == Kind::piece;
  if (!known || published - position_ > ring_.capacity || published % host_ring::kAlignment != 0 ||
      header.bytes > host_ring::largest_message(ring_.capacity) ||
      host_ring::occupied(header.bytes) > published - begin ||
      host_ring::occupied(header.bytes) > ring_.capacity - offset) {
    refuse(header, published);
  }
  end_ = begin + host_ring::occupied(header.bytes);
  end_offset_ = offset_after(offset + host_ring::occupied(header.bytes), ring_.capacity);
  return {header.kind, {ring_.bytes + offset + sizeof header, header.bytes}};
}

void HostRingReader::release() {
  position_ = end_;
  offset_ = end_offset_;
  ring_.consumed->store(position_, std::memory_order_release);
}

void HostRingReader::refuse(const Header& header, std::uint64_t published) const {
  throw ProtocolError(fmt::format(
      "a message of kind {} and {} bytes at byte {} of a ring between ranks of a host, with {} "
      "bytes, that was filled up to byte {}",
      static_cast<std::uint64_t>(header.kind), header.bytes, position_, ring_.capacity, published));
}

}  // namespace lapse

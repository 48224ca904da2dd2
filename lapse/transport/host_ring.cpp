#include "lapse/transport/host_ring.hpp"

#include <fmt/format.h>

#include <cstring>

#include "lapse/core/error.hpp"

namespace lapse {

using host_ring::Header;
using host_ring::Kind;

namespace {

// No message goes over the end of the ring. (A division would take longer than a short message's copy.)
constexpr std::uint64_t offset_after(std::uint64_t end, std::uint64_t capacity) {
  return end == capacity ? 0 : end;
}

}  // namespace

bool HostRingWriter::has_room(std::uint64_t end) {
  if (end - consumed_ <= ring_.capacity) [[likely]] {
    return true;
  }
  // The receiver has read what it released: it may be overwritten.
  consumed_ = ring_.consumed->load(std::memory_order_acquire);
  return end - consumed_ <= ring_.capacity;
}

bool HostRingWriter::write(Kind kind, std::span<const std::byte> message) {
  const std::uint64_t bytes = host_ring::occupied(message.size());
  const std::uint64_t left = ring_.capacity - offset_;
  const bool gap = bytes > left;
  const std::uint64_t begin = gap ? written_ + left : written_;
  if (!has_room(begin + bytes)) return false;
  if (gap) {
    const Header header;
    std::memcpy(ring_.bytes + offset_, &header, sizeof header);
    offset_ = 0;
  }
  std::byte* const place = ring_.bytes + offset_;
  const Header header{message.size(), kind};
  std::memcpy(place, &header, sizeof header);
  if (!message.empty()) std::memcpy(place + sizeof header, message.data(), message.size());
  written_ = begin + bytes;
  offset_ = offset_after(offset_ + bytes, ring_.capacity);
  ring_.published->store(written_, std::memory_order_release);
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
  const bool known = header.kind == Kind::packet || header.kind == Kind::announcement;
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

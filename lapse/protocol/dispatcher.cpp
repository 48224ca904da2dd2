#include "lapse/protocol/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "lapse/core/error.hpp"

namespace lapse {

void Dispatcher::add_handler(FrameKind kind, FrameHandler& handler) {
  FrameHandler*& place = handlers_[static_cast<std::size_t>(kind)];
  if (place != nullptr)
    throw ProtocolError(fmt::format("frame kind {} has a handler already", static_cast<int>(kind)));
  place = &handler;
}

void Dispatcher::handle_packet(Rank from, std::span<const std::byte> packet) {
  std::exception_ptr failure;
  while (!packet.empty()) {
    FrameHeader header;
    if (packet.size() < sizeof header) {
      throw ProtocolError(
          fmt::format("{} bytes from rank {} where a frame should begin", packet.size(), from.value()));
    }
    std::memcpy(&header, packet.data(), sizeof header);
    packet = packet.subspan(sizeof header);
    const std::uint64_t bytes = std::uint64_t{header.count} * header.record_bytes;
    if (header.count == 0 || bytes > packet.size()) {
      throw ProtocolError(
          fmt::format("a frame from rank {} promises {} records of {} bytes; {} bytes are left", from.value(),
                      header.count, header.record_bytes, packet.size()));
    }
    if (header.kind >= kFrameKinds || handlers_[header.kind] == nullptr) {
      throw ProtocolError(fmt::format("a frame of unknown kind {} from rank {}", header.kind, from.value()));
    }
    if (!is_wave(static_cast<FrameKind>(header.kind))) ++frames_received_;
    try {
      handlers_[header.kind]->handle_frame(from, header, packet.data());
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
    packet = packet.subspan(std::min<std::uint64_t>((bytes + 7) / 8 * 8, packet.size()));
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lapse

#include "lapse/protocol/host/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "lapse/core/error.hpp"

namespace lapse {

void Dispatcher::handle_packet(Rank from, std::span<const std::byte> packet) {
  std::exception_ptr failure;
  std::size_t padding = 0;  // before the frame; counted with it, as the sender counts
  while (!packet.empty()) {
    if (packet.size() < sizeof(FrameHeader)) {
      throw ProtocolError(
          fmt::format("{} bytes from rank {} where a frame should begin", packet.size(), from.value()));
    }
    auto header = read_record<FrameHeader>(packet.data());
    packet = packet.subspan(sizeof header);
    const std::uint64_t bytes = std::uint64_t{header.count} * header.record_bytes;
    if (header.count == 0 || bytes > packet.size()) {
      throw ProtocolError(
          fmt::format("a frame from rank {} promises {} records of {} bytes; {} bytes are left", from.value(),
                      header.count, header.record_bytes, packet.size()));
    }
    ProtocolModule* const module = frames_.module(header.kind);
    if (module == nullptr) {
      throw ProtocolError(fmt::format("a frame of unknown kind {} from rank {}", header.kind, from.value()));
    }
    if (frames_.is_counted(header.kind)) {
      ++frames_received_;
      if (!cut_.is_of(header.flags)) [[unlikely]]
        compare_cuts(header.flags);
    }
    header.flags &= static_cast<std::uint16_t>(~CutNumber::kFlags);
    const std::size_t padded = std::min<std::size_t>(padded_bytes(bytes), packet.size());
    kinds_[header.kind].add(header.count, padding + sizeof header + bytes);
    padding = padded - bytes;
    try {
      module->handle_frame(from, header, packet.data());
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
    packet = packet.subspan(padded);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lapse

#include "lapse/transport/loopback/transport.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/transport/loopback/network.hpp"

namespace lapse {

std::int32_t LoopbackTransport::ranks() const {
  return network_.ranks();
}

bool LoopbackTransport::has_separate_bulk_lane() const {
  return network_.has_separate_bulk_lane();
}

void LoopbackTransport::throw_if_closed(const char* call) const {
  if (closed_) throw ClosedError(fmt::format("{} on rank {}: the transport is closed", call, rank_.value()));
}

void LoopbackTransport::send(Rank to, PacketBuffer packet, Lane lane) {
  throw_if_closed("send");
  network_.send(rank_, to, std::move(packet), lane);
}

PacketBuffer LoopbackTransport::acquire_buffer() {
  return network_.pool_.acquire();
}

std::size_t LoopbackTransport::poll(const Handler& handler, std::size_t limit) {
  throw_if_closed("poll");
  if (reads_.finish_all()) return 1;
  return network_.poll(rank_, handler, limit);
}

bool LoopbackTransport::idle() const {
  return network_.waiting(rank_) == 0 && reads_.in_flight() == 0;
}

std::uint32_t LoopbackTransport::Reads::expose(std::span<const std::byte> memory) {
  transport_.throw_if_closed("expose");
  memory_.push_back(memory);
  return static_cast<std::uint32_t>(memory_.size() - 1);
}

std::span<const std::byte> LoopbackTransport::Reads::exposed(Rank from, std::uint32_t number) const {
  transport_.throw_if_closed("a remote read");
  transport_.network_.check(from, "a remote read");
  return transport_.network_.endpoints_[from.index()]->reads_.memory_.at(number);
}

std::vector<std::vector<std::byte>> LoopbackTransport::all_gather(std::span<const std::byte> mine,
                                                                  GatherWatch*) {
  throw_if_closed("all_gather");
  if (ranks() > 1) {
    throw ProtocolError(
        fmt::format("all_gather on rank {} of {}: a single-threaded loopback cannot wait for others",
                    rank_.value(), ranks()));
  }
  return {{mine.begin(), mine.end()}};
}

void LoopbackTransport::close(GatherWatch*) {
  throw_if_closed("close");
  closed_ = true;
  if (reads_.in_flight() > 0)
    throw ProtocolError(fmt::format("close on rank {}: a remote read is in flight", rank_.value()));
  if (const std::size_t waiting = network_.waiting(rank_); waiting > 0) {
    throw ProtocolError(
        fmt::format("close on rank {}: {} packets have not been delivered", rank_.value(), waiting));
  }
}

void LoopbackTransport::abort(const std::string& reason) {
  log_error(rank_, fmt::format("rank {} of a loopback network ends the process: {}", rank_.value(), reason));
  std::abort();
}

}  // namespace lapse

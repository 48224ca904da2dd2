#include "lapse/transport/loopback/threaded_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"

namespace lapse {

ThreadedLoopbackTransport::ThreadedLoopbackTransport(ThreadedLoopback& network, Rank rank, std::int32_t ranks,
                                                     const ThreadedLoopbackSettings& settings,
                                                     LoopbackMemory& memory)
    : network_(network),
      rank_(rank),
      ranks_(ranks),
      separate_bulk_lane_(settings.separate_bulk_lane),
      delays_(settings.delay_seed.has_value()),
      costly_(settings.delay_seed.value_or(0) % 2 == 1),
      has_remote_reads_(settings.remote_reads),
      shared_memory_(memory),
      random_(settings.delay_seed.value_or(0), rank.index()),
      reads_(*this),
      queues_((settings.separate_bulk_lane ? 2 : 1) * static_cast<std::size_t>(ranks)) {}

void ThreadedLoopbackTransport::send(Rank to, PacketBuffer packet, Lane lane) {
  throw_if_closed("send");
  static_cast<ThreadedLoopbackTransport&>(network_.endpoint(to)).put(rank_, std::move(packet), lane);
}

void ThreadedLoopbackTransport::put(Rank from, PacketBuffer packet, Lane lane) {
  const bool bulk = lane == Lane::bulk && separate_bulk_lane_;
  const std::size_t queue = from.index() + (bulk ? static_cast<std::size_t>(ranks_) : 0);
  const MutexLock guard(mutex_);
  queues_[queue].push(std::move(packet));
  if (!delays_) arrivals_.push(queue);
  waiting_.fetch_add(1, std::memory_order_release);
}

std::size_t ThreadedLoopbackTransport::poll(const Handler& handler, std::size_t limit) {
  throw_if_closed("poll");
  if (idle()) return 0;
  if (reads_.in_flight() > 0 && advance_reads()) return 1;
  if (delays_) limit = std::min(limit, random_.below(4));
  std::size_t delivered = 0;
  while (delivered < limit) {
    std::optional<Packet> packet = take();
    if (!packet) break;
    handler(Rank{static_cast<std::int32_t>(packet->queue % static_cast<std::size_t>(ranks_))},
            packet->buffer.bytes());
    pool_.release(std::move(packet->buffer));
    ++delivered;
  }
  return delivered;
}

bool ThreadedLoopbackTransport::advance_reads() {
  if (!delays_) return reads_.finish_all();
  return random_.below(2) == 0 && reads_.advance(random_.below(reads_.in_flight()));
}

std::uint32_t ThreadedLoopbackTransport::Reads::expose(std::span<const std::byte> memory) {
  transport_.throw_if_closed("expose");
  std::vector<std::span<const std::byte>>& all = memory_.emplace_back();
  // Addresses, which are valid for all ranks of the process.
  for (const auto& one : transport_.network_.gather(transport_.rank_, std::as_bytes(std::span(&memory, 1)))) {
    std::span<const std::byte> span;
    std::memcpy(&span, one.data(), one.size());
    all.push_back(span);
  }
  return static_cast<std::uint32_t>(memory_.size() - 1);
}

std::span<const std::byte> ThreadedLoopbackTransport::Reads::exposed(Rank from, std::uint32_t number) const {
  transport_.throw_if_closed("a remote read");
  return memory_.at(number).at(from.index());
}

std::optional<ThreadedLoopbackTransport::Packet> ThreadedLoopbackTransport::take() {
  const MutexLock guard(mutex_);
  if (waiting_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  std::size_t queue = 0;
  if (delays_) {
    queue = random_.below(queues_.size());
    while (queues_[queue].empty()) queue = (queue + 1) % queues_.size();
  } else {
    queue = arrivals_.pop();
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return Packet{queue, queues_[queue].pop()};
}

std::vector<std::vector<std::byte>> ThreadedLoopbackTransport::all_gather(std::span<const std::byte> mine,
                                                                          GatherWatch* watch) {
  throw_if_closed("all_gather");
  return network_.gather(rank_, mine, watch);
}

void ThreadedLoopbackTransport::close(GatherWatch*) {
  throw_if_closed("close");
  network_.gather(rank_, {});
  closed_ = true;
  if (const std::size_t waiting = waiting_.load(std::memory_order_acquire); waiting > 0) {
    throw ProtocolError(
        fmt::format("close on rank {}: {} packets have not been delivered", rank_.value(), waiting));
  }
}

void ThreadedLoopbackTransport::throw_if_closed(const char* call) const {
  if (closed_) throw ClosedError(fmt::format("{} on rank {}: the transport is closed", call, rank_.value()));
}

void ThreadedLoopbackTransport::abort(const std::string& reason) {
  log_error(rank_, fmt::format("rank {} of a loopback network ends the process: {}", rank_.value(), reason));
  std::abort();
}

}  // namespace lapse

#include "lapse/transport/loopback/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/loopback/transport.hpp"

namespace lapse {

LoopbackNetwork::LoopbackNetwork(std::int32_t ranks, bool separate_bulk_lane, std::size_t shared_bytes)
    : ranks_(ranks), separate_bulk_lane_(separate_bulk_lane), memory_(shared_bytes) {
  if (ranks < 1) throw UsageError(fmt::format("a loopback network of {} ranks: expected at least 1", ranks));
  pairs_.resize(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    endpoints_.push_back(std::make_unique<LoopbackTransport>(*this, Rank{rank}, memory_));
  }
}

LoopbackNetwork::~LoopbackNetwork() = default;

Transport& LoopbackNetwork::endpoint(Rank rank) {
  check(rank, "endpoint");
  return *endpoints_[rank.index()];
}

void LoopbackNetwork::check(Rank rank, const char* call) const {
  if (rank.value() < 0 || rank.value() >= ranks_) {
    throw UsageError(fmt::format("{} with rank {}: the loopback network has the ranks 0 to {}", call,
                                 rank.value(), ranks_ - 1));
  }
}

LoopbackNetwork::Pair& LoopbackNetwork::pair(Rank from, Rank to) {
  return pairs_[from.index() * static_cast<std::size_t>(ranks_) + to.index()];
}

std::span<const LoopbackNetwork::Choice> LoopbackNetwork::deliverable() {
  choices_.clear();
  for (std::int32_t from = 0; from < ranks_; ++from) {
    for (std::int32_t to = 0; to < ranks_; ++to) {
      const Pair& packets = pair(Rank{from}, Rank{to});
      if (!packets.queue.empty()) {
        choices_.push_back({Rank{from}, Rank{to}, Transport::Lane::ordered, packets.queue.size()});
      }
      if (!packets.bag.empty()) {
        choices_.push_back({Rank{from}, Rank{to}, Transport::Lane::bulk, packets.bag.size()});
      }
    }
  }
  return choices_;
}

void LoopbackNetwork::deliver(const Choice& choice, const Transport::Handler& handler, std::size_t index) {
  check(choice.from, "deliver");
  check(choice.to, "deliver");
  const Rank from = choice.from;
  Pair& packets = pair(from, choice.to);
  const bool bulk = choice.lane == Transport::Lane::bulk;
  const std::size_t available = bulk ? packets.bag.size() : std::min<std::size_t>(packets.queue.size(), 1);
  if (index >= available) {
    throw ProtocolError(
        fmt::format("deliver packet {} from rank {} to rank {} on the {} lane: {} can be delivered", index,
                    from.value(), choice.to.value(), bulk ? "bulk" : "ordered", available));
  }
  PacketBuffer packet;
  if (bulk) {
    packet = std::move(packets.bag[index]);
    packets.bag.erase(packets.bag.begin() + static_cast<std::ptrdiff_t>(index));
  } else {
    packet = packets.queue.pop();
  }
  handler(from, packet.bytes());
  pool_.release(std::move(packet));
}

void LoopbackNetwork::send(Rank from, Rank to, PacketBuffer packet, Transport::Lane lane) {
  check(to, "send");
  Pair& packets = pair(from, to);
  if (lane == Transport::Lane::bulk && separate_bulk_lane_) {
    packets.bag.push_back(std::move(packet));
  } else {
    packets.queue.push(std::move(packet));
  }
}

std::size_t LoopbackNetwork::reads_in_flight(Rank reader) const {
  check(reader, "reads_in_flight");
  return endpoints_[reader.index()]->reads_.in_flight();
}

bool LoopbackNetwork::advance_read(Rank reader, std::size_t index) {
  check(reader, "advance_read");
  return endpoints_[reader.index()]->reads_.advance(index);
}

std::size_t LoopbackNetwork::poll(Rank to, const Transport::Handler& handler, std::size_t limit) {
  std::size_t delivered = 0;
  for (std::int32_t from = 0; from < ranks_; ++from) {
    Pair& packets = pair(Rank{from}, to);
    while (delivered < limit && !packets.queue.empty()) {
      deliver({Rank{from}, to, Transport::Lane::ordered, 1}, handler);
      ++delivered;
    }
    while (delivered < limit && !packets.bag.empty()) {
      deliver({Rank{from}, to, Transport::Lane::bulk, 1}, handler);
      ++delivered;
    }
  }
  return delivered;
}

std::size_t LoopbackNetwork::waiting(Rank to) const {
  std::size_t count = 0;
  for (std::int32_t from = 0; from < ranks_; ++from) {
    const Pair& packets =
        pairs_[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + to.index()];
    count += packets.queue.size() + packets.bag.size();
  }
  return count;
}

}  // namespace lapse

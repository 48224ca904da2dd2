// Packets between all ranks of a transport. Both sides can compute their number, size and content: a check of
// order, completeness and content that runs on every transport.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse::test {

// One rank's part of the traffic: `packets_per_pair` packets to every rank, including itself, on the ordered
// lane and, if it shares the order, on the bulk lane. Handlers send about half of them. Throws
// std::runtime_error at the first unexpected packet (several threads must not use Catch2's assertions).
class Traffic {
 public:
  // The size of each packet is one of `sizes`.
  Traffic(Transport& transport, std::vector<std::size_t> sizes, std::size_t packets_per_pair,
          std::uint64_t seed)
      : transport_(transport),
        sizes_(std::move(sizes)),
        packets_per_pair_(packets_per_pair),
        seed_(seed),
        choice_(seed + 1, transport.rank().index()),
        sent_(static_cast<std::size_t>(transport.ranks())),
        received_(static_cast<std::size_t>(transport.ranks())) {}

  // Sends and receives all packets.
  void run() {
    while (!step()) {
    }
  }

  // Sends at most one packet and polls once. Returns whether all is done.
  bool step() {
    if (choice_.below(2) == 0) send_one();
    const std::size_t limit = 1 + choice_.below(8);
    const std::size_t delivered = transport_.poll(handler_, limit);
    if (delivered > limit) throw std::runtime_error("poll delivered more than its limit");
    if (delivered == 0) std::this_thread::yield();
    return all_sent() && all_received() && transport_.idle();
  }

 private:
  static bool all(const std::vector<std::uint64_t>& counts, std::uint64_t expected) {
    return std::all_of(counts.begin(), counts.end(), [&](std::uint64_t count) { return count == expected; });
  }
  bool all_sent() const { return all(sent_, packets_per_pair_); }
  bool all_received() const { return all(received_, packets_per_pair_); }

  std::uint64_t pattern(Rank from, Rank to, std::uint64_t number) const {
    return mix_bits(mix_bits(seed_ + from.index()) + (to.index() << 40U) + number);
  }
  std::size_t size_of(std::uint64_t pattern) const { return sizes_[mix_bits(pattern) % sizes_.size()]; }

  template <class Visit>
  static void for_each_word(std::size_t size, std::uint64_t pattern, Visit visit) {
    for (std::size_t offset = 0; offset < size; offset += sizeof(std::uint64_t)) {
      visit(offset, pattern + offset * kGoldenGamma, std::min(sizeof(std::uint64_t), size - offset));
    }
  }

  void send_one() {
    if (all_sent()) return;
    std::size_t to = choice_.below(sent_.size());
    while (sent_[to] == packets_per_pair_) to = (to + 1) % sent_.size();
    const Rank receiver{static_cast<std::int32_t>(to)};
    const std::uint64_t packet_pattern = pattern(transport_.rank(), receiver, sent_[to]);
    PacketBuffer packet = transport_.acquire_buffer();
    if (!packet.empty()) throw std::runtime_error("acquire_buffer returned a buffer that is not empty");
    const std::size_t size = size_of(packet_pattern);
    std::byte* const begin = packet.extend(size);
    for_each_word(size, packet_pattern, [&](std::size_t offset, std::uint64_t word, std::size_t bytes) {
      std::memcpy(begin + offset, &word, bytes);
    });
    const bool bulk = !transport_.has_separate_bulk_lane() && sent_[to] % 2 == 1;
    ++sent_[to];
    transport_.send(receiver, std::move(packet), bulk ? Transport::Lane::bulk : Transport::Lane::ordered);
  }

  void receive(Rank from, std::span<const std::byte> packet) {
    const std::uint64_t number = received_[from.index()]++;
    const std::uint64_t expected = pattern(from, transport_.rank(), number);
    if (packet.size() != size_of(expected)) {
      throw std::runtime_error(fmt::format("packet {} from rank {} has {} bytes, expected {}", number,
                                           from.value(), packet.size(), size_of(expected)));
    }
    if (reinterpret_cast<std::uintptr_t>(packet.data()) % PacketBuffer::kAlignment != 0) {
      throw std::runtime_error(fmt::format("packet {} from rank {} is not aligned", number, from.value()));
    }
    for_each_word(packet.size(), expected, [&](std::size_t offset, std::uint64_t word, std::size_t bytes) {
      if (std::memcmp(packet.data() + offset, &word, bytes) != 0) {
        throw std::runtime_error(
            fmt::format("packet {} from rank {} is wrong at byte {}", number, from.value(), offset));
      }
    });
    if (choice_.below(2) == 0) send_one();
  }

  Transport& transport_;
  const std::vector<std::size_t> sizes_;
  const std::uint64_t packets_per_pair_;
  const std::uint64_t seed_;
  RandomEngine choice_;
  std::vector<std::uint64_t> sent_;      // Index: receiver.
  std::vector<std::uint64_t> received_;  // Index: sender.
  const Transport::Handler handler_ = [this](Rank from, std::span<const std::byte> packet) {
    receive(from, packet);
  };
};

}  // namespace lapse::test

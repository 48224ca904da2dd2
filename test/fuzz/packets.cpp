// The protocol of three ranks with hostile packets: each packet is handled or refused with a ProtocolError,
// and the ranks continue.
//
// An input is a byte that selects the setup, followed by steps. A step is a byte that selects the action,
// followed by the action's arguments. Packets of the ranks are delivered unchanged or changed; other packets
// are made from the input's bytes. So a list of steps is a history that a fuzzer can change freely.
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"
#include "test/unit/protocol_fuzz_rank.hpp"

namespace lapse::test {
namespace {

constexpr int kMaxSteps = 300;
constexpr int kMaxDeliveries = 2000;

using Packet = std::vector<std::byte>;

// The first byte: domain_ranks (2 bits), copies (2), lanes (1), memory (1).
FuzzSetup setup_of(std::uint8_t byte) {
  constexpr std::array kDomainRanks{1, 2, 3, 1};
  constexpr std::array kCopies{FuzzCopies::none, FuzzCopies::library, FuzzCopies::all, FuzzCopies::library};
  return {.copies = kCopies[(byte >> 2U) & 3U],
          .domain_ranks = kDomainRanks[byte & 3U],
          .little_memory = (byte & 32U) != 0,
          .seed = byte};
}

class World {
 public:
  explicit World(std::uint8_t choice) : network_(kRanks, (choice & 16U) != 0, std::size_t{1} << 22) {
    const FuzzSetup setup = setup_of(choice);
    for (std::int32_t rank = 0; rank < kRanks; ++rank)
      ranks_.push_back(std::make_unique<FuzzRank>(network_, Rank(rank), setup));
  }

  void step(FuzzInput& input) {
    const std::uint8_t what = input.byte() % 16;
    switch (what) {
      case 0:
        return deliver(input.byte(), [](Packet&) {});
      case 1:
        for (int i = 0; i < 50 && deliver_one(0, [](Packet&) {}); ++i) continue;
        return;
      case 2:
        return deliver(input.byte(),
                       [&](Packet& packet) { packet[position(packet, input)] ^= flipped(input); });
      case 3:
        return deliver(input.byte(), [&](Packet& packet) { overwrite(packet, input); });
      case 4:
        return deliver(input.byte(), [&](Packet& packet) {
          packet.resize(input.number<std::uint16_t>() % (packet.size() + 64));
        });
      case 5:
        return deliver_hostile(input);
      case 6:
        return deliver_twice(input);
      default:
        return call(what, rank(input), input.number<std::uint16_t>());
    }
  }

 private:
  // The numbers continue those of step().
  void call(std::uint8_t what, FuzzRank& rank, std::uint16_t seed) {
    RandomEngine random(seed);
    attempt([&] {
      switch (what) {
        case 7:
          return rank.toggle(random);
        case 8:
          return rank.push_to_copies(random);
        case 9:
          return rank.sync(random);
        case 10:
          return rank.lease(random);
        case 11:
          return rank.ask(random);
        case 12:
          return random.below(2) == 0 ? rank.detect_quiescence(random) : rank.collective_call();
        case 13:
          return rank.round();
        default:
          return rank.call(random);
      }
    });
  }

  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const ProtocolError&) {
      // A hostile packet, this one or an earlier one.
    } catch (const CollectiveMismatch&) {
      // Likewise, in a collective call.
    } catch (const UserCodeFailed&) {
      // The rule of one table refuses some updates.
    }
  }

  template <class Change>
  bool deliver_one(std::size_t which, Change&& change) {
    const auto choices = network_.deliverable();
    if (choices.empty() || deliveries_ == kMaxDeliveries) return false;
    ++deliveries_;
    const LoopbackNetwork::Choice choice = choices[which % choices.size()];
    Packet packet;
    network_.deliver(
        choice, [&](Rank, std::span<const std::byte> bytes) { packet.assign(bytes.begin(), bytes.end()); },
        choice.lane == Transport::Lane::bulk ? which / choices.size() % choice.count : 0);
    if (!packet.empty()) change(packet);
    handle(choice.to, choice.from, packet);
    return true;
  }
  template <class Change>
  void deliver(std::size_t which, Change&& change) {
    static_cast<void>(deliver_one(which, std::forward<Change>(change)));
  }
  void deliver_twice(FuzzInput& input) {
    Packet copy;
    deliver(input.byte(), [&](Packet& packet) { copy = packet; });
    if (!copy.empty()) handle(number(input), number(input), copy);
  }
  void deliver_hostile(FuzzInput& input) {
    const Rank to = number(input);
    const Rank from = number(input);
    const auto bytes = std::as_bytes(input.take(input.number<std::uint16_t>()));
    handle(to, from, Packet(bytes.begin(), bytes.end()));
  }

  void handle(Rank to, Rank from, const Packet& packet) {
    RankProtocol& protocol = ranks_[to.index()]->protocol();
    // A memory block of exactly this size.
    const std::unique_ptr<std::byte[]> exact(new std::byte[packet.size()]);
    if (!packet.empty()) std::memcpy(exact.get(), packet.data(), packet.size());
    attempt([&] { protocol.handle_packet(from, {exact.get(), packet.size()}); });
    attempt([&] { protocol.end_turn(); });
    for (auto& rank : ranks_) rank->release_finished();
  }

  static std::size_t position(const Packet& packet, FuzzInput& input) {
    return input.number<std::uint16_t>() % packet.size();
  }
  static std::byte flipped(FuzzInput& input) { return std::byte{input.byte()}; }
  // Four bytes at an offset that is a multiple of four.
  static void overwrite(Packet& packet, FuzzInput& input) {
    const std::size_t at = position(packet, input) / 4 * 4;
    const auto value = input.number<std::uint32_t>();
    std::memcpy(packet.data() + at, &value, std::min(sizeof value, packet.size() - at));
  }

  Rank number(FuzzInput& input) { return Rank(input.byte() % kRanks); }
  FuzzRank& rank(FuzzInput& input) { return *ranks_[number(input).index()]; }

  LoopbackNetwork network_;
  std::vector<std::unique_ptr<FuzzRank>> ranks_;
  int deliveries_ = 0;
};

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lapse::test::FuzzInput input(data, size);
  lapse::test::World world(input.byte());
  for (int step = 0; step < lapse::test::kMaxSteps && !input.empty(); ++step) world.step(input);
  return 0;
}

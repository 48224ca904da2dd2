// Damaged messages: the protocol of several ranks gets packets of real traffic in which bytes, lengths,
// numbers and positions have been changed. Every packet is handled or refused with a ProtocolError.
// AddressSanitizer and UndefinedBehaviorSanitizer check that it is not accessed out of bounds.
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_fuzz_rank.hpp"

namespace lapse {
namespace {

using test::FuzzCopies;
using test::FuzzRank;
using test::FuzzSetup;
using test::kRanks;

constexpr FrameKind kRuns[] = {FrameKind::pull_run, FrameKind::push_run, FrameKind::set_run,
                               FrameKind::pull_run_answer, FrameKind::push_run_answer};

// The kinds that concern replicas. They occur only between domains, so here each rank is one. REFUSE_COPY is
// missing: it needs a lack of memory.
constexpr FrameKind kOfCopies[] = {FrameKind::on,
                                   FrameKind::delta,
                                   FrameKind::off,
                                   FrameKind::snapshot,
                                   FrameKind::offer,
                                   FrameKind::refresh,
                                   FrameKind::acknowledge,
                                   FrameKind::credit,
                                   FrameKind::sync,
                                   FrameKind::sync_answer,
                                   FrameKind::transfer_with_members};

using Packet = std::vector<std::byte>;

std::vector<std::size_t> frame_offsets(const Packet& packet) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at + sizeof(FrameHeader) <= packet.size();) {
    FrameHeader header;
    std::memcpy(&header, packet.data() + at, sizeof header);
    offsets.push_back(at);
    at += sizeof header + (std::size_t{header.count} * header.record_bytes + 7) / 8 * 8;
  }
  return offsets;
}

template <class T>
void change(T& field, RandomEngine& random) {
  switch (random.below(5)) {
    case 0:
      field = static_cast<T>(random.below(8));
      break;
    case 1:
      ++field;
      break;
    case 2:
      --field;
      break;
    case 3:
      field = static_cast<T>(~std::uint64_t{0} << random.below(8 * sizeof(T)));
      break;
    default:
      field = static_cast<T>(random());
      break;
  }
}

void change_header(Packet& packet, std::size_t at, RandomEngine& random) {
  FrameHeader header;
  std::memcpy(&header, packet.data() + at, sizeof header);
  switch (random.below(8)) {
    case 0:
      header.kind = static_cast<std::uint16_t>(random.below(kFrameKinds + 1));
      break;
    case 1:
      change(header.flags, random);
      break;
    case 2:
      change(header.table, random);
      break;
    case 3:
      change(header.count, random);
      break;
    case 4:
      change(header.record_bytes, random);
      break;
    case 5:
      change(header.origin, random);
      break;
    case 6:
      change(header.domain, random);
      break;
    default:
      change(header.operation, random);
      break;
  }
  std::memcpy(packet.data() + at, &header, sizeof header);
}

// Changes a word that begins in the records: part of a key, item, counter or value.
void change_record(Packet& packet, std::size_t at, RandomEngine& random) {
  const std::size_t first = at + sizeof(FrameHeader);
  if (first + 8 > packet.size()) return;
  const std::size_t place = first + 4 * random.below((packet.size() - first) / 4 - 1);
  std::uint64_t number;
  std::memcpy(&number, packet.data() + place, sizeof number);
  change(number, random);
  std::memcpy(packet.data() + place, &number, sizeof number);
}

struct Outcome {
  std::array<std::uint64_t, kFrameKinds> frames{};  // by kind, in undamaged packets
  std::array<std::uint64_t, kFrameKinds> damaged{};
  std::uint64_t max_records = 0;  // of a run
  std::uint64_t handled = 0;
  std::uint64_t thrown = 0;  // by the application's rule
  std::uint64_t refused = 0;
  std::uint64_t unfinished = 0;
};

void count_frames(const Packet& packet, std::array<std::uint64_t, kFrameKinds>& frames, Outcome& outcome) {
  for (const std::size_t at : frame_offsets(packet)) {
    FrameHeader header;
    std::memcpy(&header, packet.data() + at, sizeof header);
    ++frames.at(header.kind);
    if (header.kind >= static_cast<std::uint16_t>(FrameKind::pull_run))
      outcome.max_records = std::max<std::uint64_t>(outcome.max_records, header.count);
  }
}

void damage(Packet& packet, RandomEngine& random) {
  const auto offsets = frame_offsets(packet);
  switch (random.below(6)) {
    case 0:
      packet.resize(random.below(packet.size() + 1));
      break;
    case 1:
      packet[random.below(packet.size())] = static_cast<std::byte>(random());
      break;
    case 2:
      packet.resize(packet.size() + 1 + random.below(80), static_cast<std::byte>(random()));
      break;
    case 3:
      change_record(packet, offsets[random.below(offsets.size())], random);
      break;
    default:
      change_header(packet, offsets[random.below(offsets.size())], random);
      break;
  }
}

// Lets workers call and delivers packets. One packet in `damage_one_in` is damaged, repeated or misdirected
// (0: none). With replicas, workers make twice as many calls about them.
void run_world(std::uint64_t seed, std::uint64_t damage_one_in, int calls, FuzzCopies copies,
               Outcome& outcome) {
  RandomEngine random(seed);
  LoopbackNetwork network(kRanks, seed % 2 == 1);
  std::vector<std::unique_ptr<FuzzRank>> ranks;
  const FuzzSetup setup{.copies = copies, .seed = seed};
  ranks.reserve(kRanks);
  for (std::int32_t rank = 0; rank < kRanks; ++rank)
    ranks.push_back(std::make_unique<FuzzRank>(network, Rank(rank), setup));
  const auto attempt = [&](auto&& step) {
    try {
      step();
      ++outcome.handled;
    } catch (const ProtocolError&) {
      ++outcome.refused;
    } catch (const CollectiveMismatch&) {
      ++outcome.refused;
    } catch (const UserCodeFailed&) {
      ++outcome.thrown;
    }
  };
  const auto call = [&] {
    FuzzRank& rank = *ranks[random.below(kRanks)];
    switch (copies == FuzzCopies::none ? 0 : random.below(6)) {
      case 2:
      case 3:
        return rank.toggle(random);
      case 4:
        return rank.push_to_copies(random);
      case 5:
        return rank.sync(random);
      default:
        return rank.call(random);
    }
  };
  const auto handle = [&](Rank to, Rank from, const Packet& packet) {
    RankProtocol& protocol = ranks[to.index()]->protocol();
    // A memory block of exactly this size.
    const std::unique_ptr<std::byte[]> exact(new std::byte[packet.size()]);
    std::memcpy(exact.get(), packet.data(), packet.size());
    attempt([&] { protocol.handle_packet(from, {exact.get(), packet.size()}); });
    attempt([&] { protocol.end_turn(); });
  };
  for (auto& rank : ranks) rank->collective_call();
  constexpr int kLastRounds = 4;
  for (int made = 0, rounds = 0;;) {
    if (made < calls && random.below(3) == 0) {
      attempt(call);
      ++made;
      continue;
    }
    const auto choices = network.deliverable();
    if (choices.empty()) {
      if (made < calls) continue;
      // Some changes wait for a round: a DELTA for its REFRESH.
      if (copies == FuzzCopies::none || rounds == kLastRounds) break;
      ++rounds;
      for (auto& rank : ranks) attempt([&] { rank->round(); });
      continue;
    }
    const auto choice = choices[random.below(choices.size())];
    Packet packet;
    const bool bag = choice.lane == Transport::Lane::bulk;
    network.deliver(
        choice, [&](Rank, std::span<const std::byte> bytes) { packet.assign(bytes.begin(), bytes.end()); },
        bag ? random.below(choice.count) : 0);
    const bool damaged = damage_one_in != 0 && random.below(damage_one_in) == 0;
    count_frames(packet, damaged ? outcome.damaged : outcome.frames, outcome);
    if (!damaged) {
      handle(choice.to, choice.from, packet);
    } else {
      const std::uint64_t what = random.below(8);
      if (what == 0) handle(choice.to, choice.from, packet);  // twice
      if (what > 1) damage(packet, random);
      const Rank to = what == 1 ? Rank(static_cast<std::int32_t>(random.below(kRanks))) : choice.to;
      handle(to, choice.from, packet);
    }
    for (auto& rank : ranks) rank->release_finished();
  }
  for (auto& rank : ranks) outcome.unfinished += rank->unfinished();
}

}  // namespace
}  // namespace lapse

TEST_CASE("Undamaged traffic is handled and every operation ends") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    lapse::run_world(seed, 0, 60, lapse::FuzzCopies::none, outcome);
  CHECK(outcome.refused == 0);
  CHECK(outcome.handled > 10'000);
  CHECK(outcome.unfinished == 0);
  CHECK(outcome.max_records > 15);
  for (const lapse::FrameKind kind : lapse::kRuns)
    CHECK(outcome.frames.at(static_cast<std::size_t>(kind)) > 300);
}

TEST_CASE("Damaged packets are handled or refused with a ProtocolError") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 0; seed < 500; ++seed)
    lapse::run_world(seed, 8, 60, lapse::FuzzCopies::none, outcome);
  // Both happen: the damage is sometimes detected at once, and sometimes not.
  CHECK(outcome.refused > 5'000);
  CHECK(outcome.handled > 100'000);
  for (const lapse::FrameKind kind : lapse::kRuns)
    CHECK(outcome.damaged.at(static_cast<std::size_t>(kind)) > 300);
}

TEST_CASE("Much damage") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 5000; seed < 5300; ++seed)
    lapse::run_world(seed, 2, 60, lapse::FuzzCopies::none, outcome);
  CHECK(outcome.refused > 5'000);
}

TEST_CASE("Undamaged traffic of copies is handled and every operation ends") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 0; seed < 120; ++seed)
    lapse::run_world(seed, 0, 120, lapse::FuzzCopies::library, outcome);
  CHECK(outcome.refused == 0);
  CHECK(outcome.thrown == 0);
  CHECK(outcome.unfinished == 0);
  for (const lapse::FrameKind kind : lapse::kOfCopies) {
    INFO("kind " << static_cast<int>(kind));
    CHECK(outcome.frames.at(static_cast<std::size_t>(kind)) > 100);
  }
}

TEST_CASE("Damaged packets of copies are handled or refused with a ProtocolError") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 0; seed < 350; ++seed) {
    const auto copies = seed % 2 == 0 ? lapse::FuzzCopies::library : lapse::FuzzCopies::all;
    lapse::run_world(seed, seed % 3 == 0 ? 2 : 8, 120, copies, outcome);
  }
  CHECK(outcome.refused > 5'000);
  CHECK(outcome.handled > 100'000);
  CHECK(outcome.thrown > 0);
  for (const lapse::FrameKind kind : lapse::kOfCopies) {
    INFO("kind " << static_cast<int>(kind));
    CHECK(outcome.damaged.at(static_cast<std::size_t>(kind)) > 100);
  }
}

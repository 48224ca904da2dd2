// Barriers that detect by themselves whether anything is in flight, with messages in random order.
#include "lapse/ps/access/sync_barrier_cut.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/ps/access/reduction.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/frame_modules.hpp"

using namespace lapse;

namespace {

constexpr FrameKind kToken{static_cast<std::uint16_t>(0)};  // a number that no module of a rank uses

// Passes tokens on, a number of times, and may double them. It is always idle: only the counts of frames show
// a token in flight.
class Tokens final : public test::ModuleStandIn {
 public:
  Tokens(Outbox& outbox, FrameLane lane, std::int32_t ranks, RandomEngine& random, int& in_flight)
      : ModuleStandIn({{kToken, lane}}),
        outbox_(outbox),
        ranks_(ranks),
        random_(random),
        in_flight_(in_flight) {}

  void send(std::uint64_t hops) {
    const Rank to(static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(ranks_))));
    outbox_.append(to, FrameHeader::of(kToken, 0, hops));
    ++in_flight_;
  }
  void handle_frame(Rank, const FrameHeader& header, const std::byte*) override {
    for (std::uint32_t token = 0; token < header.count; ++token) {
      --in_flight_;
      for (std::uint64_t more = header.operation > 0 ? random_.below(3) : 0; more > 0; --more)
        send(header.operation - 1);
    }
  }

 private:
  Outbox& outbox_;
  std::int32_t ranks_;
  RandomEngine& random_;
  int& in_flight_;
};

struct BarrierRank {
  BarrierRank(Transport& transport, FrameLane lane, RandomEngine& random, int& in_flight)
      : protocol(transport, router),
        tokens(protocol.outbox(), lane, transport.ranks(), random, in_flight),
        cut(protocol.termination()) {
    protocol.add(tokens);
  }
  void start(const std::vector<Rank>& participants, Rank self, bool replicas_are_shared) {
    cut.start(std::ssize(participants) == protocol.registry().ranks(), replicas_are_shared);
    protocol.groups().all().collective().start(
        participants, self, &combine_contributions, &is_returned,
        [this](const Bytes& result) { cut.take_result(result); }, &cut);
    protocol.termination().start();
  }
  void contribute(ReductionHeader::Kind kind) {
    contribution.bytes = kind == ReductionHeader::Kind::sync_barrier ? make_sync_contribution({})
                                                                     : make_contribution({.kind = kind}, {});
    protocol.groups().all().handle_submission(contribution);
    protocol.end_turn();
  }
  void end_phase() {
    protocol.termination().handle_submission(request);
    protocol.end_turn();
  }
  std::uint64_t completed() { return protocol.termination().completed(); }
  std::uint64_t barriers() { return protocol.groups().all().collective().completed_rounds(); }

  Router router;
  RankProtocol protocol;
  Tokens tokens;
  SyncBarrierCut cut;
  Contribution contribution;
  QuiescenceRequest request;
};

class BarrierRanks {
 public:
  BarrierRanks(std::int32_t ranks, std::int32_t with_workers, std::uint64_t seed,
               bool replicas_are_shared = false)
      : random_(seed), network_(ranks, seed % 2 == 0) {
    std::vector<Rank> participants;
    for (std::int32_t rank = 0; rank < with_workers; ++rank) participants.emplace_back(rank);
    const FrameLane lane = seed % 3 == 0 ? FrameLane::ordered : FrameLane::free;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      all_.push_back(std::make_unique<BarrierRank>(network_.endpoint(Rank(rank)), lane, random_, in_flight_));
      all_.back()->start(participants, Rank(rank), replicas_are_shared);
    }
  }

  std::vector<std::unique_ptr<BarrierRank>>& all() { return all_; }
  BarrierRank& operator[](std::size_t rank) { return *all_[rank]; }
  RandomEngine& random() { return random_; }
  int in_flight() const { return in_flight_; }
  std::uint64_t waves() {
    std::uint64_t frames = 0;
    for (auto& rank : all_)
      frames += rank->protocol.outbox().counters().kinds[static_cast<std::size_t>(FrameKind::wave_up)].frames;
    return frames;
  }

  // Every rank that has completed the detection knows that no token is in flight.
  void deliver_one(std::uint64_t detection) {
    const auto choices = network_.deliverable();
    if (choices.empty()) return;
    const auto choice = choices[random_.below(choices.size())];
    const bool bag = choice.lane == Transport::Lane::bulk;
    BarrierRank& to = *all_[choice.to.index()];
    network_.deliver(
        choice,
        [&](Rank from, std::span<const std::byte> packet) { to.protocol.handle_packet(from, packet); },
        bag ? random_.below(choice.count) : 0);
    to.protocol.end_turn();
    if (to.completed() >= detection) REQUIRE(in_flight_ == 0);
  }
  void deliver_all(std::uint64_t detection) {
    for (int step = 0; !network_.deliverable().empty(); ++step) {
      REQUIRE(step < 10'000);
      deliver_one(detection);
    }
  }
  // Ranks [0, with_workers) send tokens, then wait at a sync_barrier, in a random order and with messages in
  // between.
  void sync_barrier(std::uint64_t detection, std::size_t with_workers, std::uint64_t tokens) {
    std::vector<std::size_t> left;
    for (std::size_t rank = 0; rank < with_workers; ++rank) left.push_back(rank);
    while (!left.empty()) {
      const auto next = left.begin() + static_cast<std::ptrdiff_t>(random_.below(left.size()));
      for (std::uint64_t token = random_.below(tokens + 1); token > 0; --token)
        all_[*next]->tokens.send(random_.below(4));
      all_[*next]->protocol.end_turn();
      all_[*next]->contribute(ReductionHeader::Kind::sync_barrier);
      left.erase(next);
      for (std::uint64_t messages = random_.below(6); messages > 0; --messages) deliver_one(detection);
    }
    deliver_all(detection);
  }

 private:
  RandomEngine random_;
  LoopbackNetwork network_;
  int in_flight_ = 0;
  std::vector<std::unique_ptr<BarrierRank>> all_;
};

}  // namespace

TEST_CASE("A sync_barrier ends when nothing is in flight on any rank") {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    INFO("seed " << seed);
    const auto ranks = static_cast<std::size_t>(1 + seed % 6);
    const std::size_t with_workers = seed % 5 == 0 ? (ranks + 1) / 2 : ranks;
    BarrierRanks all(static_cast<std::int32_t>(ranks), static_cast<std::int32_t>(with_workers), seed,
                     seed % 7 == 0);
    for (std::size_t rank = with_workers; rank < ranks; ++rank) all[rank].end_phase();
    for (std::uint64_t detection = 1; detection <= 6; ++detection) {
      all.sync_barrier(detection, with_workers, seed % 4);
      for (auto& rank : all.all()) REQUIRE(rank->completed() == detection);
    }
    for (std::size_t rank = 0; rank < with_workers; ++rank) all[rank].end_phase();
    all.deliver_all(7);
    for (auto& rank : all.all()) {
      REQUIRE(rank->completed() == 7);
      REQUIRE(rank->protocol.termination().phases_ended() == 1);
    }
  }
}

TEST_CASE("A sync_barrier without messages before it needs no wave") {
  for (std::int32_t ranks = 1; ranks <= 6; ++ranks) {
    BarrierRanks all(ranks, ranks, 3);
    for (std::uint64_t detection = 1; detection <= 6; ++detection) {
      all.sync_barrier(detection, static_cast<std::size_t>(ranks), 0);
      REQUIRE(all[0].completed() == detection);
    }
    CHECK(all.waves() == 0);
  }
  // Where another rank's workers may write for this one, and where a rank has no workers.
  BarrierRanks shared(4, 4, 3, true);
  shared.sync_barrier(1, 4, 0);
  CHECK(shared[0].completed() == 1);
  CHECK(shared.waves() > 0);
  BarrierRanks idle(4, 2, 3);
  for (const std::size_t rank : {2, 3}) idle[rank].end_phase();
  idle.sync_barrier(1, 2, 0);
  CHECK(idle[0].completed() == 1);
  CHECK(idle.waves() > 0);
}

TEST_CASE("A phase ends after a failure amid a sync_barrier, with nothing in flight") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    BarrierRanks all(4, 4, seed);
    const std::size_t failing = all.random().below(4);
    const std::uint64_t barriers = seed % 3;
    for (std::uint64_t detection = 1; detection <= barriers; ++detection) all.sync_barrier(detection, 4, 2);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      for (std::uint64_t token = all.random().below(3); token > 0; --token) all[rank].tokens.send(2);
      if (rank != failing) {
        all[rank].contribute(ReductionHeader::Kind::sync_barrier);
      } else {
        all[rank].protocol.handle_failure(std::make_exception_ptr(std::runtime_error("lost")));
        all[rank].protocol.end_turn();
      }
      for (std::uint64_t messages = all.random().below(4); messages > 0; --messages) all.deliver_one(99);
    }
    std::vector<bool> ended(4);
    const auto phase_ended = [&](auto& rank) { return rank->protocol.termination().phases_ended() == 1; };
    for (int step = 0; !std::ranges::all_of(all.all(), phase_ended); ++step) {
      REQUIRE(step < 10'000);
      all.deliver_one(99);
      for (std::size_t rank = 0; rank < 4; ++rank) {
        if (ended[rank] || !all[rank].protocol.failure().raised() || all.random().below(4) != 0) continue;
        ended[rank] = true;
        all[rank].end_phase();
      }
      if (std::ranges::any_of(all.all(), phase_ended)) REQUIRE(all.in_flight() == 0);
    }
  }
}

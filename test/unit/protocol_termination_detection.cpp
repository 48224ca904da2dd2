#include "lapse/protocol/group/termination_detection.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/protocol/worker/stall_question.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/frame_modules.hpp"

using namespace lapse;

namespace {

constexpr FrameKind kTask{static_cast<std::uint16_t>(0)};  // a number that no module of a rank uses

// Work that spreads: each frame is a task that may send further tasks, at once or later.
class Spreading final : public test::ModuleStandIn {
 public:
  Spreading(Outbox& outbox, RandomEngine& random, std::int32_t ranks)
      : ModuleStandIn({{kTask, FrameLane::free}}), outbox_(outbox), random_(random), ranks_(ranks) {}

  void handle_frame(Rank, const FrameHeader& header, const std::byte*) override { kept_ += header.count; }
  bool idle(IdleLevel level) const override {
    return kept_ == 0 && (level == IdleLevel::answered || !dirty_);
  }

  bool has_work() const { return kept_ > 0 || dirty_; }
  // Handles one kept task, or, if there is none, the reason why the rank is not synced.
  void work() {
    if (kept_ == 0) {
      dirty_ = false;
      return;
    }
    --kept_;
    for (std::uint64_t more = random_.below(2); more > 0; --more) send();
  }
  void send() { send_to(Rank(static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(ranks_))))); }
  void send_to(Rank to) { outbox_.append(to, FrameHeader::of(kTask)); }
  // Adds a task that no rank has sent; ends one without sending any.
  void keep() { ++kept_; }
  void end_one() { --kept_; }
  void make_dirty() { dirty_ = true; }

 private:
  Outbox& outbox_;
  RandomEngine& random_;
  std::int32_t ranks_;
  std::uint64_t kept_ = 0;
  bool dirty_ = false;
};

struct RankUnderTest {
  RankUnderTest(Transport& transport, RandomEngine& random)
      : protocol(transport, router), spreading(protocol.outbox(), random, transport.ranks()) {
    protocol.add(spreading);
    protocol.termination().start();
  }

  // What comes at any time, without a message that causes it.
  void ask() {
    if (!question.finished) return;
    question.detached = true;
    question.finished = false;
    protocol.stall_inquiry().handle_submission(question);
  }
  void request_stop() { protocol.stop_requests().handle_submission(stop); }

  Router router;
  RankProtocol protocol;
  Spreading spreading;
  QuiescenceRequest request;
  StallQuestion question;
  Submission stop;
};

// Several successive detections, like within a phase. Ranks ask for each at different times; before that, and
// until no task is left, tasks spread.
void run(std::int32_t ranks, IdleLevel level, std::uint64_t seed) {
  RandomEngine random(seed);
  LoopbackNetwork network(ranks, seed % 2 == 0);
  std::vector<std::unique_ptr<RankUnderTest>> all;
  all.reserve(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    all.push_back(std::make_unique<RankUnderTest>(network.endpoint(Rank(rank)), random));
  for (std::uint64_t detection = 1; detection <= 3; ++detection) {
    for (auto& rank : all) {
      for (std::uint64_t tasks = random.below(4); tasks > 0; --tasks) rank->spreading.send();
      if (random.below(2) == 0) rank->spreading.make_dirty();
      rank->request.level = level;
    }
    std::vector<bool> asked(all.size(), false);
    const auto completed_somewhere = [&] {
      return std::ranges::any_of(
          all, [&](auto& rank) { return rank->protocol.termination().completed() == detection; });
    };
    const auto left = [&] {
      return std::ranges::any_of(
          all, [&](auto& rank) { return rank->protocol.termination().completed() != detection; });
    };
    for (int step = 0; left(); ++step) {
      REQUIRE(step < 100'000);
      const std::size_t at = random.below(all.size());
      RankUnderTest& rank = *all[at];
      switch (random.below(6)) {
        case 0:
          if (asked[at] || random.below(3) != 0) break;
          asked[at] = true;
          rank.protocol.termination().handle_submission(rank.request);
          break;
        case 1:
          if (rank.spreading.has_work()) rank.spreading.work();
          break;
        case 2: {
          const auto choices = network.deliverable();
          if (choices.empty()) break;
          const auto choice = choices[random.below(choices.size())];
          const bool bag = choice.lane == Transport::Lane::bulk;
          RankProtocol& to = all[choice.to.index()]->protocol;
          network.deliver(
              choice, [&](Rank from, std::span<const std::byte> packet) { to.handle_packet(from, packet); },
              bag ? random.below(choice.count) : 0);
          to.end_turn();
          break;
        }
        case 3:
          if (random.below(4) == 0) rank.ask();
          break;
        case 4:
          if (random.below(16) == 0) rank.request_stop();
          break;
        default:
          rank.protocol.end_turn();
          break;
      }
      if (!completed_somewhere()) continue;
      // From now on no new work can begin.
      for (const auto& other : all) REQUIRE(other->spreading.idle(level));
      for (const auto& choice : network.deliverable()) {
        network.deliver(choice, [&](Rank from, std::span<const std::byte> packet) {
          FrameHeader header;
          std::memcpy(&header, packet.data(), sizeof header);
          REQUIRE(header.kind == static_cast<std::uint16_t>(FrameKind::wave_down));
          all[choice.to.index()]->protocol.handle_packet(from, packet);
        });
        all[choice.to.index()]->protocol.end_turn();
        break;
      }
    }
    for (const bool one : asked) REQUIRE(one);
    // Work that is not part of the requested level continues.
    for (auto& rank : all) {
      while (rank->spreading.has_work()) rank->spreading.work();
    }
  }
}

}  // namespace

TEST_CASE("Termination is detected when nothing is left, again and again, whatever the order of deliveries") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::int32_t ranks : {1, 2, 3, 5}) run(ranks, IdleLevel::synced, seed);
  }
}

TEST_CASE("The level answered does not wait for what has only to be synced") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) run(3, IdleLevel::answered, seed);
}

TEST_CASE("A frame that overtakes a cut does not make up for one in flight") {
  RandomEngine random(1);
  LoopbackNetwork network(3, false);
  std::vector<std::unique_ptr<RankUnderTest>> ranks;
  for (std::int32_t rank = 0; rank < 3; ++rank)
    ranks.push_back(std::make_unique<RankUnderTest>(network.endpoint(Rank(rank)), random));
  const auto deliver = [&](const LoopbackNetwork::Choice& choice) {
    RankProtocol& to = ranks[choice.to.index()]->protocol;
    network.deliver(choice,
                    [&](Rank from, std::span<const std::byte> packet) { to.handle_packet(from, packet); });
    to.end_turn();
  };
  const auto deliver_between = [&](std::int32_t from, std::int32_t to) {
    for (const auto& choice : network.deliverable())
      if (choice.from == Rank(from) && choice.to == Rank(to)) return deliver(choice);
    FAIL("nothing to deliver");
  };
  const auto deliver_all = [&] {
    for (auto choices = network.deliverable(); !choices.empty(); choices = network.deliverable())
      deliver(choices[0]);
  };
  // The first wave notifies all ranks that all wait. Only rank 1 is idle, and contributes to the second one.
  for (const std::size_t busy : {0, 2}) ranks[busy]->spreading.keep();
  for (auto& rank : ranks) {
    rank->protocol.termination().handle_submission(rank->request);
    rank->protocol.end_turn();
  }
  deliver_all();
  // Rank 2 sends a task before its cut.
  ranks[2]->spreading.send_to(Rank(1));
  ranks[2]->spreading.end_one();
  ranks[2]->protocol.end_turn();
  deliver_between(2, 1);
  // Rank 1 sends two after its cut, of which rank 0 gets one before its own.
  ranks[1]->spreading.end_one();
  ranks[1]->spreading.send_to(Rank(0));
  ranks[1]->spreading.send_to(Rank(2));
  ranks[1]->protocol.end_turn();
  while (!network.deliverable().empty() && network.deliverable()[0].to == Rank(0))
    deliver(network.deliverable()[0]);
  for (int task = 0; task < 2; ++task) ranks[0]->spreading.end_one();
  REQUIRE(ranks[0]->spreading.idle(IdleLevel::synced));
  ranks[0]->protocol.end_turn();
  CHECK(ranks[0]->protocol.termination().completed() == 0);
  deliver_all();
  for (auto& rank : ranks) CHECK(rank->protocol.termination().completed() == 0);
  ranks[2]->spreading.end_one();
  ranks[2]->protocol.end_turn();
  deliver_all();
  for (auto& rank : ranks) CHECK(rank->protocol.termination().completed() == 1);
}

TEST_CASE("A second request while a detection runs is refused") {
  RandomEngine random(1);
  LoopbackNetwork network(2, false);
  RankUnderTest rank(network.endpoint(Rank(0)), random);
  rank.protocol.termination().handle_submission(rank.request);
  CHECK_THROWS_AS(rank.protocol.termination().handle_submission(rank.request), ProtocolError);
}

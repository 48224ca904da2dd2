// Detections within a phase: ranks without workers, modules that must be urged, failures.
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/group/termination_detection.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/frame_modules.hpp"

using namespace lapse;

namespace {

constexpr FrameKind kDelta{static_cast<std::uint16_t>(0)};  // a number that no module of a rank uses
constexpr std::uint16_t kAcknowledges = 1;                  // a flag of it

// Has replicas of values of the next rank. Changes to them are sent only when the module is urged, as if its
// deadline were far away. It is synced again once the next rank has acknowledged.
class LazyCopies final : public test::ModuleStandIn {
 public:
  LazyCopies(Outbox& outbox, Rank next)
      : ModuleStandIn({{kDelta, FrameLane::free}}), outbox_(outbox), next_(next) {}

  void handle_frame(Rank from, const FrameHeader& header, const std::byte*) override {
    if (header.flags == kAcknowledges) {
      --unacknowledged_;
      return;
    }
    ++merged_;
    if (passes_on_ > 0) {
      --passes_on_;
      ++written_;
    }
    send(from, kAcknowledges);
  }
  bool idle(IdleLevel level) const override {
    return level == IdleLevel::answered || (written_ == 0 && unacknowledged_ == 0);
  }
  void hasten(IdleLevel level) override {
    REQUIRE(level == IdleLevel::synced);
    REQUIRE_FALSE(idle(level));
    ++urged_;
    if (!obeys_ || written_ == 0) return;
    written_ = 0;
    ++unacknowledged_;
    send(next_, 0);
  }

  void write() { ++written_; }
  // The given number of arriving deltas make this rank's own replicas differ.
  void pass_on(int deltas) { passes_on_ = deltas; }
  void disobey() { obeys_ = false; }
  int urged() const { return urged_; }
  int merged() const { return merged_; }

 private:
  void send(Rank to, std::uint16_t flags) {
    FrameHeader header;
    header.kind = static_cast<std::uint16_t>(kDelta);
    header.flags = flags;
    outbox_.append(to, header);
  }

  Outbox& outbox_;
  Rank next_;
  int written_ = 0;
  int unacknowledged_ = 0;
  int passes_on_ = 0;
  int urged_ = 0;
  int merged_ = 0;
  bool obeys_ = true;
};

struct PhaseRank {
  PhaseRank(Transport& transport, bool workers)
      : protocol(transport, router),
        copies(protocol.outbox(), Rank((transport.rank().value() + 1) % transport.ranks())),
        has_workers(workers) {
    protocol.add(copies);
    protocol.termination().start();
  }

  TerminationDetection& termination() { return protocol.termination(); }
  void end_phase() {
    termination().handle_submission(request);
    asked = true;
    ended = true;
  }
  void wait_within_phase(IdleLevel level) {
    termination().detect_within_phase(level);
    asked = true;
  }

  Router router;
  RankProtocol protocol;
  LazyCopies copies;
  QuiescenceRequest request;
  bool has_workers;
  bool asked = false;  // for the next detection
  bool ended = false;
};

class PhaseRanks {
 public:
  // One rank for each digit: with workers, or without if the digit is 0.
  PhaseRanks(const std::string& workers, std::uint64_t seed)
      : random_(seed), network_(static_cast<std::int32_t>(workers.size()), seed % 2 == 0) {
    for (std::size_t rank = 0; rank < workers.size(); ++rank)
      all_.push_back(std::make_unique<PhaseRank>(network_.endpoint(Rank(static_cast<std::int32_t>(rank))),
                                                 workers[rank] != '0'));
  }

  std::vector<std::unique_ptr<PhaseRank>>& all() { return all_; }
  PhaseRank& operator[](std::size_t rank) { return *all_[rank]; }
  RandomEngine& random() { return random_; }

  // A turn without a message is that of a thread that checks its rank from time to time.
  void deliver_one() {
    const auto choices = network_.deliverable();
    if (choices.empty()) return;
    const auto choice = choices[random_.below(choices.size())];
    const bool bag = choice.lane == Transport::Lane::bulk;
    RankProtocol& to = all_[choice.to.index()]->protocol;
    network_.deliver(
        choice, [&](Rank from, std::span<const std::byte> packet) { to.handle_packet(from, packet); },
        bag ? random_.below(choice.count) : 0);
    to.end_turn();
  }
  void deliver_all() {
    for (int step = 0; !network_.deliverable().empty(); ++step) {
      REQUIRE(step < 10'000);
      deliver_one();
    }
  }
  // Every rank that has not asked for the next detection does so, in a random order, with messages in
  // between.
  template <class Ask>
  void all_ask(Ask&& ask) {
    for (auto& rank : all_) rank->asked = rank->asked && rank->ended;
    while (std::ranges::any_of(all_, [](auto& rank) { return !rank->asked; })) {
      PhaseRank& rank = *all_[random_.below(all_.size())];
      if (!rank.asked) {
        ask(rank);
        rank.protocol.end_turn();
      }
      for (std::uint64_t messages = random_.below(6); messages > 0; --messages) deliver_one();
    }
  }

 private:
  RandomEngine random_;
  LoopbackNetwork network_;
  std::vector<std::unique_ptr<PhaseRank>> all_;
};

// Ranks without workers end their part of the phase at once.
void end_idle_ranks(PhaseRanks& ranks) {
  for (auto& rank : ranks.all()) {
    if (rank->has_workers) continue;
    rank->end_phase();
    rank->protocol.end_turn();
  }
}

}  // namespace

TEST_CASE("A detection within a phase urges modules that are not idle, on ranks without workers too") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const char* workers : {"1", "11", "10", "01", "101", "0110", "10010"}) {
      PhaseRanks ranks(workers, seed);
      const std::size_t count = ranks.all().size();
      end_idle_ranks(ranks);
      for (std::uint64_t detection = 1; detection <= 4; ++detection) {
        int merged = 0;
        for (auto& rank : ranks.all()) merged += rank->copies.merged();
        int written = 0;
        for (std::size_t rank = 0; count > 1 && rank < count; ++rank) {
          if (ranks.random().below(2) == 0) continue;
          ranks[rank].copies.write();
          // The next rank's replicas then differ, and so on along the ring.
          if (written == 0) ranks[(rank + 1) % count].copies.pass_on(1);
          ++written;
        }
        ranks.all_ask([&](PhaseRank& rank) {
          if (rank.has_workers) rank.wait_within_phase(IdleLevel::synced);
        });
        ranks.deliver_all();
        for (auto& rank : ranks.all()) {
          REQUIRE(rank->termination().completed() == detection);
          REQUIRE(rank->termination().phases_ended() == 0);
          REQUIRE(rank->protocol.idle(IdleLevel::synced));
          merged -= rank->copies.merged();
        }
        REQUIRE((-merged > 0) == (written > 0));
      }
      ranks.all_ask([](PhaseRank& rank) { rank.end_phase(); });
      ranks.deliver_all();
      for (auto& rank : ranks.all()) REQUIRE(rank->termination().phases_ended() == 1);
    }
  }
}

TEST_CASE("Modules are urged only when every rank waits, and only at the level asked for") {
  PhaseRanks ranks("01", 1);
  ranks[0].copies.write();
  end_idle_ranks(ranks);
  // The other rank is busy: no rank urges this one.
  for (int turn = 0; turn < 10; ++turn) ranks[0].protocol.end_turn();
  ranks.deliver_all();
  CHECK(ranks[0].copies.urged() == 0);
  ranks[1].wait_within_phase(IdleLevel::synced);
  ranks[1].protocol.end_turn();
  ranks.deliver_all();
  CHECK(ranks[0].termination().completed() == 1);
  CHECK(ranks[0].copies.urged() > 0);
  CHECK(ranks[1].copies.merged() == 1);

  PhaseRanks others("11", 1);
  others[0].copies.write();
  for (auto& rank : others.all()) {
    rank->wait_within_phase(IdleLevel::answered);
    rank->protocol.end_turn();
  }
  others.deliver_all();
  CHECK(others[0].termination().completed() == 1);
  CHECK(others[0].copies.urged() == 0);
}

TEST_CASE("A module is urged once a turn, and one that does not follow causes no messages") {
  PhaseRanks ranks("11", 2);
  ranks[0].copies.disobey();
  ranks[0].copies.write();
  for (auto& rank : ranks.all()) {
    rank->wait_within_phase(IdleLevel::synced);
    rank->protocol.end_turn();
  }
  ranks.deliver_all();
  const std::uint64_t frames = ranks[0].protocol.frame_counts().sent;
  for (int turn = 1; turn <= 5; ++turn) {
    const int before = ranks[0].copies.urged();
    ranks[0].protocol.end_turn();
    CHECK(ranks[0].copies.urged() == before + 1);
  }
  CHECK(ranks[0].protocol.frame_counts().sent == frames);
  CHECK(ranks[0].termination().completed() == 0);
}

TEST_CASE("After a failure the detection within the phase becomes the one that ends it") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    PhaseRanks ranks(seed % 3 == 0 ? "1011" : "111", seed);
    end_idle_ranks(ranks);
    const std::size_t failing = ranks.random().below(2) * 2;
    bool failed = false;
    const auto end_after_failure = [&] {
      for (auto& rank : ranks.all()) {
        if (!rank->protocol.failure().raised() || rank->ended || ranks.random().below(4) != 0) continue;
        rank->end_phase();
        rank->protocol.end_turn();
      }
    };
    ranks[1].copies.disobey();
    ranks[1].copies.write();
    ranks.all_ask([&](PhaseRank& rank) {
      rank.asked = true;
      if (rank.has_workers && !rank.ended) rank.termination().detect_within_phase(IdleLevel::synced);
      if (&rank != &ranks[failing]) return;
      rank.protocol.handle_failure(std::make_exception_ptr(std::runtime_error("lost")));
      failed = true;
    });
    REQUIRE(failed);
    const auto left = [&] {
      return std::ranges::any_of(ranks.all(),
                                 [](auto& rank) { return rank->termination().phases_ended() == 0; });
    };
    for (int step = 0; left(); ++step) {
      REQUIRE(step < 10'000);
      ranks.deliver_one();
      end_after_failure();
    }
    ranks.deliver_all();
    for (auto& rank : ranks.all()) {
      CHECK(rank->protocol.failure().raised());
      CHECK(rank->ended);
      CHECK(rank->termination().completed() == 1);
    }
  }
}

TEST_CASE("A second detection while one runs is refused") {
  PhaseRanks ranks("11", 1);
  ranks[0].wait_within_phase(IdleLevel::synced);
  CHECK_THROWS_AS(ranks[0].termination().detect_within_phase(IdleLevel::synced), ProtocolError);
  ranks[1].end_phase();
  CHECK_THROWS_AS(ranks[1].termination().detect_within_phase(IdleLevel::synced), ProtocolError);
}

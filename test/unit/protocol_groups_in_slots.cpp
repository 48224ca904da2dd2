// Groups that begin and end while others run, on each rank at its own time.
#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr std::int32_t kRanks = 3;

void add_values(Bytes& into, const Bytes& from) {
  into[0] = static_cast<std::byte>(std::to_integer<unsigned>(into[0]) + std::to_integer<unsigned>(from[0]));
}

// Ranks with as many slots as groups, so that group g can have slot g of each. Packets wait until they are
// delivered.
class SlottedRanks {
 public:
  explicit SlottedRanks(std::size_t slots) {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      protocols_.push_back(std::make_unique<RankProtocol>(network_.endpoint(Rank(rank)), router_));
      protocols_.back()->registry().prepare_workers(slots);
      protocols_.back()->groups().open_slots(0);
    }
  }

  RankGroups& groups(Rank rank) { return protocols_[rank.index()]->groups(); }
  WorkerEndpoint& slot(Rank rank, std::size_t number) {
    return *protocols_[rank.index()]->registry().workers()[number];
  }
  bool is_free(Rank rank, std::size_t number) { return slot(rank, number).unanswered().count().is_clear(); }
  void end_turn(Rank rank) { protocols_[rank.index()]->end_turn(); }

  RankGroup& begin(Rank rank, GroupNumber number, const std::vector<Rank>& participants) {
    RankGroup& group = groups(rank).begin_in_slots(number, {&slot(rank, number - 1)});
    group.collective().start(participants, rank, &add_values);
    groups(rank).handle_kept(number);
    end_turn(rank);
    return group;
  }
  // Returns false if no packet waits.
  bool deliver_one(RandomEngine& random) {
    const auto choices = network_.deliverable();
    if (choices.empty()) return false;
    const LoopbackNetwork::Choice choice = choices[random.below(choices.size())];
    RankProtocol& to = *protocols_[choice.to.index()];
    network_.deliver(choice,
                     [&](Rank from, std::span<const std::byte> packet) { to.handle_packet(from, packet); });
    to.end_turn();
    REQUIRE_FALSE(to.failure().raised());
    return true;
  }

 private:
  LoopbackNetwork network_{kRanks, false};
  Router router_;
  std::vector<std::unique_ptr<RankProtocol>> protocols_;
};

// A group on one of its ranks: it begins, makes rounds of calls, perhaps fails, leaves, and ends when it has
// left on all ranks.
struct Part {
  enum class State { waiting, seated, left, ended };
  State state = State::waiting;
  RankGroup* group = nullptr;
  std::uint64_t contributed = 0;
  std::array<Contribution, 8> contributions;
};

struct PlayedGroup {
  std::vector<Rank> ranks;
  std::uint64_t rounds = 0;
  bool fails = false;
  std::array<Part, kRanks> parts;  // by rank

  bool has_left() const {
    for (const Rank rank : ranks)
      if (parts[rank.index()].state < Part::State::left) return false;
    return true;
  }
};

class GroupPlay {
 public:
  explicit GroupPlay(std::uint64_t seed) : random_(seed, 3), ranks_(kGroups) {
    for (PlayedGroup& group : groups_) {
      for (std::int32_t rank = 0; rank < kRanks; ++rank)
        if (random_.below(2) == 0) group.ranks.emplace_back(rank);
      if (group.ranks.empty()) group.ranks.emplace_back(static_cast<std::int32_t>(random_.below(kRanks)));
      group.rounds = random_.below(5);
      group.fails = random_.below(6) == 0;
    }
  }

  void run() {
    progress_role.assert_held();  // One thread does everything.
    for (int step = 0; !has_ended(); ++step) {
      REQUIRE(step < 100000);
      if (random_.below(2) == 0) {
        ranks_.deliver_one(random_);
      } else {
        const std::size_t number = random_.below(kGroups);
        PlayedGroup& group = groups_[number];
        const Rank rank = group.ranks[random_.below(group.ranks.size())];
        move(number, group, rank, group.parts[rank.index()]);
      }
    }
    while (ranks_.deliver_one(random_)) {
    }
  }

 private:
  static constexpr std::size_t kGroups = 12;

  bool has_ended() const {
    for (const PlayedGroup& group : groups_)
      for (const Rank rank : group.ranks)
        if (group.parts[rank.index()].state != Part::State::ended) return false;
    return true;
  }
  // Those before it have begun on this rank.
  bool is_next(std::size_t number, Rank rank) const {
    for (std::size_t before = 0; before < number; ++before)
      for (const Rank other : groups_[before].ranks)
        if (other == rank && groups_[before].parts[rank.index()].state == Part::State::waiting) return false;
    return true;
  }

  void move(std::size_t number, PlayedGroup& group, Rank rank, Part& part) LAPSE_REQUIRES(progress_role) {
    switch (part.state) {
      case Part::State::waiting:
        if (!is_next(number, rank)) return;
        part.group = &ranks_.begin(rank, number + 1, group.ranks);
        part.state = Part::State::seated;
        return;
      case Part::State::seated:
        return call(number, group, rank, part);
      case Part::State::left:
        if (!group.has_left()) return;
        ranks_.groups(rank).end(number + 1);
        part.state = Part::State::ended;
        return;
      case Part::State::ended:
        return;
    }
  }

  void call(std::size_t number, PlayedGroup& group, Rank rank, Part& part) LAPSE_REQUIRES(progress_role) {
    const bool failed = part.group->failure().raised();
    CHECK((!failed || group.fails));
    CHECK(ranks_.is_free(rank, number) == !failed);
    const std::uint64_t completed = part.group->collective().completed_rounds();
    if (!failed && completed == part.contributed && completed > 0) {
      const auto sum = static_cast<std::byte>(group.ranks.size());
      CHECK(part.group->collective().result() == Bytes{sum});
    }
    if (failed || completed == group.rounds) {
      RankGroups::leave(*part.group);
      part.state = Part::State::left;
    } else if (group.fails && completed + 1 == group.rounds) {
      ranks_.groups(rank).fail(*part.group, std::make_exception_ptr(std::runtime_error("dice")));
      ranks_.end_turn(rank);
    } else if (completed == part.contributed) {
      Contribution& contribution = part.contributions[part.contributed++];
      contribution.bytes = {std::byte{1}};
      part.group->handle_submission(contribution);
      ranks_.end_turn(rank);
    }
  }

  RandomEngine random_;
  SlottedRanks ranks_;
  std::array<PlayedGroup, kGroups> groups_;
};

}  // namespace

TEST_CASE("Groups in slots begin and end at any time, with results and failures of their own") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    GroupPlay(seed).run();
  }
}

TEST_CASE("A call of a group that has not begun here waits for it; one of an ended group is dropped") {
  progress_role.assert_held();  // One thread does everything.
  RandomEngine random(1, 1);
  SlottedRanks ranks(2);
  const std::vector<Rank> both{Rank(0), Rank(1)};
  RankGroup& second = ranks.begin(Rank(1), 2, both);
  Contribution contribution;
  contribution.bytes = {std::byte{1}};
  second.handle_submission(contribution);
  ranks.end_turn(Rank(1));
  while (ranks.deliver_one(random)) {
  }
  RankGroup& first = ranks.begin(Rank(0), 1, {Rank(0)});
  CHECK(first.collective().completed_rounds() == 0);
  RankGroup& root = ranks.begin(Rank(0), 2, both);
  Contribution other;
  other.bytes = {std::byte{1}};
  root.handle_submission(other);
  ranks.end_turn(Rank(0));
  CHECK(root.collective().completed_rounds() == 1);
  CHECK_THROWS_AS(ranks.begin(Rank(0), 2, both), ProtocolError);  // numbers rise

  RankGroups::leave(root);
  ranks.groups(Rank(0)).end(2);
  FrameHeader header = FrameHeader::of(FrameKind::workers_up, 0, 2);
  header.record_bytes = 1;
  header.count = 1;
  const std::byte record{1};
  CHECK_NOTHROW(ranks.groups(Rank(0)).handle_frame(Rank(1), header, &record));
}

TEST_CASE("The failure of a group that has been left here stops no seat of the next group") {
  progress_role.assert_held();  // One thread does everything.
  RandomEngine random(1, 1);
  SlottedRanks ranks(1);
  const std::vector<Rank> both{Rank(0), Rank(2)};
  RankGroup& here = ranks.begin(Rank(0), 1, both);
  RankGroup& other = ranks.begin(Rank(2), 1, both);
  RankGroups::leave(here);
  ranks.slot(Rank(0), 0).take_seat({.group = 2, .number = 0});
  ranks.groups(Rank(2)).fail(other, std::make_exception_ptr(std::runtime_error("late")));
  ranks.end_turn(Rank(2));
  while (ranks.deliver_one(random)) {
  }
  CHECK(here.failure().raised());
  CHECK(ranks.is_free(Rank(0), 0));
}

TEST_CASE("The failure of a group that has not begun here stops its seats when it begins") {
  progress_role.assert_held();  // One thread does everything.
  RandomEngine random(1, 1);
  SlottedRanks ranks(1);
  const std::vector<Rank> both{Rank(0), Rank(2)};
  RankGroup& group = ranks.begin(Rank(2), 1, both);
  ranks.groups(Rank(2)).fail(group, std::make_exception_ptr(std::runtime_error("early")));
  ranks.end_turn(Rank(2));
  while (ranks.deliver_one(random)) {
  }
  RankGroup& late = ranks.begin(Rank(0), 1, both);
  CHECK(late.failure().raised());
  CHECK_FALSE(ranks.is_free(Rank(0), 0));
  // The slot is as good as new for the next group.
  RankGroups::leave(late);
  ranks.slot(Rank(0), 0).take_seat({.group = 2, .number = 0});
  CHECK(ranks.is_free(Rank(0), 0));
}

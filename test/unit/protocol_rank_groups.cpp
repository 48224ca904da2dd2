#include "lapse/protocol/group/rank_groups.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr std::int32_t kRanks = 3;
constexpr std::size_t kGroups = 2;

void add_values(Bytes& into, const Bytes& from) {
  into[0] = static_cast<std::byte>(std::to_integer<unsigned>(into[0]) + std::to_integer<unsigned>(from[0]));
}

// Three ranks with two groups, each with one seat on every rank: slot 0 of group 4, slot 1 of group 5.
// Packets wait until they are delivered.
class GroupedRanks {
 public:
  static constexpr std::array<GroupNumber, kGroups> kNumbers{4, 5};

  GroupedRanks() {
    std::vector<Rank> all;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) all.emplace_back(rank);
    for (const Rank rank : all) {
      RankProtocol& protocol =
          *protocols_.emplace_back(std::make_unique<RankProtocol>(network_.endpoint(rank), router_));
      protocol.registry().prepare_workers(kGroups);
      protocol.groups().set_listener(
          [this](GroupNumber group, std::optional<std::uint64_t>, std::string_view text) {
            reported.push_back(std::to_string(group) + ": " + std::string(text));
          });
      for (std::size_t group = 0; group < kGroups; ++group) {
        RankGroup& begun = protocol.groups().begin(kNumbers[group], {&slot(rank, group)});
        begun.collective().start(all, rank, &add_values);
        groups_[group].push_back(&begun);
      }
    }
  }

  RankProtocol& protocol(Rank rank) { return *protocols_[rank.index()]; }
  RankGroup& group(Rank rank, std::size_t group) { return *groups_[group][rank.index()]; }
  WorkerEndpoint& slot(Rank rank, std::size_t number) { return *protocol(rank).registry().workers()[number]; }
  // Whether the worker in the slot accesses memory without a check.
  bool is_free(Rank rank, std::size_t number) { return slot(rank, number).unanswered().count().is_clear(); }

  void contribute(Rank rank, std::size_t group, unsigned number) {
    Contribution& contribution = contributions_[group][rank.index()];
    contribution.bytes = {static_cast<std::byte>(number)};
    this->group(rank, group).handle_submission(contribution);
    protocol(rank).end_turn();
  }
  void fail(Rank rank, std::size_t group, const std::string& text) {
    GroupFailureReport report;
    report.group = &this->group(rank, group);
    report.failure = std::make_exception_ptr(std::runtime_error(text));
    protocol(rank).groups().handle_submission(report);
    protocol(rank).end_turn();
  }
  void deliver(RandomEngine& random) {
    while (true) {
      const auto choices = network_.deliverable();
      if (choices.empty()) return;
      const LoopbackNetwork::Choice choice = choices[random.below(choices.size())];
      network_.deliver(choice, [&](Rank from, std::span<const std::byte> packet) {
        protocol(choice.to).handle_packet(from, packet);
      });
      protocol(choice.to).end_turn();
    }
  }

  std::vector<std::string> reported;  // by listeners

 private:
  LoopbackNetwork network_{kRanks, false};
  Router router_;
  std::vector<std::unique_ptr<RankProtocol>> protocols_;
  std::array<std::vector<RankGroup*>, kGroups> groups_;                  // each by rank
  std::array<std::array<Contribution, kRanks>, kGroups> contributions_;  // likewise
};

const std::array<Rank, kRanks> kAllRanks{Rank(0), Rank(1), Rank(2)};

}  // namespace

TEST_CASE("Groups that make collective calls at the same time get results of their own") {
  progress_role.assert_held();  // One thread does everything.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    GroupedRanks ranks;
    RandomEngine random(seed, 1);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      for (const Rank rank : kAllRanks) {
        ranks.contribute(rank, 0, 1);
        ranks.contribute(rank, 1, 10);
        if (random.below(2) == 0) ranks.deliver(random);
      }
      ranks.deliver(random);
      for (const Rank rank : kAllRanks) {
        for (std::size_t group = 0; group < kGroups; ++group) {
          const Collective& collective = ranks.group(rank, group).collective();
          REQUIRE(collective.completed_rounds() == round);
          CHECK(collective.result() == Bytes{static_cast<std::byte>(group == 0 ? kRanks : 10 * kRanks)});
        }
      }
    }
  }
}

TEST_CASE("The failure of a group stops its seats on every rank, and nothing of another group") {
  progress_role.assert_held();  // One thread does everything.
  for (const Rank origin : kAllRanks) {
    GroupedRanks ranks;
    RandomEngine random(1, 1);
    for (const Rank rank : kAllRanks) ranks.contribute(rank, 1, 1);
    ranks.fail(origin, 0, "the first");
    ranks.fail(origin, 0, "a later one");
    ranks.deliver(random);
    for (const Rank rank : kAllRanks) {
      INFO("failed on rank " << origin.value() << ", seen on rank " << rank.value());
      const Failure& failure = ranks.group(rank, 0).failure();
      REQUIRE(failure.raised());
      CHECK(failure.origin() == origin);
      CHECK(failure.text() == "the first");
      CHECK_FALSE(ranks.is_free(rank, 0));
      CHECK_FALSE(ranks.group(rank, 1).failure().raised());
      CHECK(ranks.is_free(rank, 1));
      CHECK(ranks.group(rank, 1).collective().completed_rounds() == 1);
      CHECK_FALSE(ranks.protocol(rank).failure().raised());
    }
    CHECK(ranks.reported == std::vector<std::string>{"4: the first"});
  }
}

TEST_CASE("What arrives for a group that has failed, or for none, changes no other group") {
  progress_role.assert_held();  // One thread does everything.
  GroupedRanks ranks;
  RandomEngine random(1, 1);
  ranks.contribute(Rank(1), 0, 1);
  ranks.fail(Rank(0), 0, "before the contribution comes");
  ranks.deliver(random);
  for (const Rank rank : kAllRanks) CHECK_FALSE(ranks.protocol(rank).failure().raised());
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::workers_up);
  header.count = 1;
  header.record_bytes = 1;
  header.operation = 6;
  const std::byte record{1};
  CHECK_THROWS_AS(ranks.protocol(Rank(0)).groups().handle_frame(Rank(1), header, &record), ProtocolError);
  header.kind = static_cast<std::uint16_t>(FrameKind::group_failed);
  header.operation = kAllWorkers;
  CHECK_THROWS_AS(ranks.protocol(Rank(0)).groups().handle_frame(Rank(1), header, &record), ProtocolError);
}

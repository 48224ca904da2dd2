#include "lapse/protocol/levels/levels.hpp"

#include <cstring>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/levels/level_tree.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

TEST_CASE("levels: the minimum of a subtree rises with the last of its ranks, and never falls") {
  const auto clocks = [](Level clock) {
    return LevelReport{.merged = {.clock = clock}, .visible = 0, .wanted = 0, .highest = 0, .seats = {}};
  };
  LevelTree tree(5, Rank(1));  // its children are 3 and 4
  CHECK(tree.parent() == Rank(0));
  tree.set_own(clocks(3));
  tree.set_child(Rank(3), clocks(2));
  CHECK(tree.of_subtree().merged.clock == 0);
  tree.set_child(Rank(4), clocks(kEndedLevel));
  CHECK(tree.of_subtree().merged.clock == 2);
  tree.set_child(Rank(3), clocks(1));  // late
  CHECK(tree.of_subtree().merged.clock == 2);
  CHECK_THROWS_AS(tree.set_child(Rank(2), clocks(4)), ProtocolError);
  LevelTree leaf(3, Rank(2));
  leaf.set_own({.merged = {7, 5}, .visible = 4, .wanted = 6, .highest = 0, .seats = {}});
  CHECK(leaf.of_subtree() ==
        LevelReport{.merged = {7, 5}, .visible = 4, .wanted = 6, .highest = 0, .seats = {}});
  std::vector<Rank> children;
  LevelTree(4, Rank(1)).for_each_child(4, [&](Rank child) { children.push_back(child); });
  CHECK(children == std::vector<Rank>{Rank(3)});
}

TEST_CASE("levels: clocks and epochs rise apart, and the highest wanted epoch counts") {
  LevelTree tree(3, Rank(0));
  tree.set_own({.merged = {4, 1}, .visible = 0, .wanted = 2, .highest = 0, .seats = {}});
  tree.set_child(Rank(1), {.merged = {3, 2}, .visible = 1, .wanted = 0, .highest = 0, .seats = {}});
  tree.set_child(Rank(2), {.merged = {5, 2}, .visible = 2, .wanted = 3, .highest = 0, .seats = {}});
  CHECK(tree.of_subtree() ==
        LevelReport{.merged = {3, 1}, .visible = 0, .wanted = 3, .highest = 0, .seats = {}});
  CHECK(LevelPair{1, 2}.exceeds({1, 1}));
  CHECK(LevelPair{2, 1}.exceeds({1, 1}));
  CHECK_FALSE(LevelPair{1, 1}.exceeds({1, 2}));
}

TEST_CASE("levels: a clock counts when the operations from before it are answered") {
  WorkerLevel level;
  const std::uint8_t first = level.begin();
  CHECK(level.may_advance());
  level.advance();
  CHECK(level.answered() == 0);
  CHECK(level.has_unanswered());
  const std::uint8_t second = level.begin();
  CHECK_FALSE(level.may_advance());  // the first one is of the clock before
  level.end(first);
  CHECK(level.answered() == 1);
  CHECK(level.may_advance());
  level.advance();
  CHECK(level.answered() == 1);
  level.ended();
  CHECK(level.answered() < kEndedLevel);
  level.end(second);
  CHECK(level.answered() == kEndedLevel);
  CHECK(level.open() == 0);
  CHECK_FALSE(level.has_unanswered());
}

TEST_CASE("levels: a notice is submitted once until it is taken") {
  LevelNotice notice;
  CHECK(notice.raise());
  CHECK_FALSE(notice.raise());
  notice.taken();
  CHECK(notice.raise());
}

TEST_CASE("levels: an epoch that a message makes visible is announced at the end of its turn") {
  progress_role.assert_held();
  test::WaitingRanks ranks(ValueBound{.bound = 1});
  Levels& levels = ranks.protocol(1).levels();
  levels.start(Levels::Groups::all_workers);
  ranks.protocol(1).end_turn();
  std::vector<Level> announced;
  levels.set_listener({.changed = [&] { announced.push_back(levels.all().visible()); }, .waits = {}});
  FrameHeader header = FrameHeader::of(FrameKind::level_down);
  header.count = 1;
  header.record_bytes = sizeof(LevelReport);
  for (const Level visible : {1, 1, 2}) {
    const LevelReport report{.merged = {}, .visible = visible, .wanted = 0, .highest = 0, .seats = {}};
    std::vector<std::byte> packet(sizeof header + sizeof report);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &report, sizeof report);
    ranks.protocol(1).handle_packet(Rank(0), packet);
    ranks.protocol(1).end_turn();
  }
  CHECK(announced == std::vector<Level>{1, 2});
}

namespace {

// Delivers a message of one record to a rank.
template <class Record>
void send(test::WaitingRanks& ranks, std::size_t to, FrameKind kind, std::int32_t from, const Record& record,
          GroupNumber group = kAllWorkers) {
  FrameHeader header = FrameHeader::of(kind, 0, group);
  header.count = 1;
  header.record_bytes = sizeof record;
  std::vector<std::byte> packet(sizeof header + sizeof record);
  std::memcpy(packet.data(), &header, sizeof header);
  std::memcpy(packet.data() + sizeof header, &record, sizeof record);
  ranks.protocol(to).handle_packet(Rank(from), packet);
}

}  // namespace

TEST_CASE("levels: messages that no rank sends are refused") {
  progress_role.assert_held();
  test::WaitingRanks ranks(ValueBound{.bound = 1});
  const auto refuses = [&](std::size_t to, FrameKind kind, std::int32_t from, const auto& record,
                           GroupNumber group = kAllWorkers) {
    CHECK_THROWS_AS(send(ranks, to, kind, from, record, group), ProtocolError);
  };
  const LevelReport none;
  // Before any phase there is no group.
  refuses(0, FrameKind::level_up, 1, none);
  for (std::size_t rank = 0; rank < 3; ++rank)
    ranks.protocol(rank).levels().start(Levels::Groups::all_workers);
  send(ranks, 0, FrameKind::level_up, 1, none);
  refuses(0, FrameKind::level_up, 1, LevelPair{1, 2});  // too short
  refuses(0, FrameKind::level_up, 1, none, 7);          // another group
  LevelReport report;
  report.merged.clock = -1;
  refuses(0, FrameKind::level_up, 1, report);
  report = {};
  report.wanted = kEndedLevel;
  refuses(0, FrameKind::level_up, 1, report);
  report = {};
  report.highest = -1;
  refuses(0, FrameKind::level_up, 1, report);
  report = {};
  report.seats = {.taken = 2, .all = 1};
  refuses(0, FrameKind::level_up, 1, report);
  refuses(0, FrameKind::level_down, 1, none);  // rank 0 is the root
  refuses(2, FrameKind::level_up, 1, none);    // rank 1 is no child of rank 2
  report = {};
  report.merged.clock = kEndedLevel;
  refuses(1, FrameKind::level_down, 0, report);                 // no group ends in such a phase
  refuses(0, FrameKind::level_near, 1, NearLevelRecord{3, 3});  // another domain
  refuses(0, FrameKind::fresh, 1, FreshRecord{.part = {0, 0}, .level = {0, 1}});  // there are no copies
}

TEST_CASE("levels: a group in slots begins by a message, waits for all seats, and is forgotten at its end") {
  progress_role.assert_held();
  test::WaitingRanks ranks(ValueBound{.bound = 1});
  RankProtocol& root = ranks.protocol(0);
  Levels& levels = root.levels();
  levels.start(Levels::Groups::in_slots, 4);
  CHECK_THROWS_AS(send(ranks, 0, FrameKind::level_up, 1, LevelReport{}), ProtocolError);  // group 0
  // A group from before the phase has ended: what is said of it is dropped.
  send(ranks, 0, FrameKind::level_up, 1, LevelReport{}, 4);
  CHECK(levels.size() == 0);
  // Ranks 1 and 2 have a worker each. Rank 1 has ended before this rank hears of rank 2.
  LevelReport report;
  report.merged = {kEndedLevel, 0};
  report.seats = {.taken = 1, .all = 2};
  send(ranks, 0, FrameKind::level_up, 1, report, 6);
  root.end_turn();
  REQUIRE(levels.find(6) != nullptr);
  report.merged = {0, 0};
  send(ranks, 0, FrameKind::level_up, 2, report, 6);
  root.end_turn();
  REQUIRE(levels.find(6) != nullptr);
  report.merged = {kEndedLevel, 0};
  send(ranks, 0, FrameKind::level_up, 2, report, 6);
  root.end_turn();
  CHECK(levels.find(6) == nullptr);
  // Late news of it is dropped.
  send(ranks, 0, FrameKind::level_up, 2, report, 6);
  CHECK(levels.size() == 0);
  // A group with a worker here does not end by a message.
  WorkerEndpoint* const worker = &ranks.worker(0);
  levels.seat(5, std::span(&worker, 1), 1);
  report.seats = {.taken = 3, .all = 3};
  CHECK_THROWS_AS(send(ranks, 0, FrameKind::level_up, 2, report, 5), ProtocolError);  // of one
  CHECK_THROWS_AS(levels.seat(6, std::span(&worker, 1), 1), ProtocolError);           // has ended
  levels.leave(5, *worker);
  CHECK(levels.find(5) != nullptr);
}

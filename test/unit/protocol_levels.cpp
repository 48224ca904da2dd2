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
    return LevelReport{.merged = {.clock = clock}, .visible = 0, .wanted = 0, .seats = {}};
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
  leaf.set_own({.merged = {7, 5}, .visible = 4, .wanted = 6, .seats = {}});
  CHECK(leaf.of_subtree() == LevelReport{.merged = {7, 5}, .visible = 4, .wanted = 6, .seats = {}});
  std::vector<Rank> children;
  LevelTree(4, Rank(1)).for_each_child(4, [&](Rank child) { children.push_back(child); });
  CHECK(children == std::vector<Rank>{Rank(3)});
}

TEST_CASE("levels: clocks and epochs rise apart, and the highest wanted epoch counts") {
  LevelTree tree(3, Rank(0));
  tree.set_own({.merged = {4, 1}, .visible = 0, .wanted = 2, .seats = {}});
  tree.set_child(Rank(1), {.merged = {3, 2}, .visible = 1, .wanted = 0, .seats = {}});
  tree.set_child(Rank(2), {.merged = {5, 2}, .visible = 2, .wanted = 3, .seats = {}});
  CHECK(tree.of_subtree() == LevelReport{.merged = {3, 1}, .visible = 0, .wanted = 3, .seats = {}});
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
    const LevelReport report{.merged = {}, .visible = visible, .wanted = 0, .seats = {}};
    std::vector<std::byte> packet(sizeof header + sizeof report);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &report, sizeof report);
    ranks.protocol(1).handle_packet(Rank(0), packet);
    ranks.protocol(1).end_turn();
  }
  CHECK(announced == std::vector<Level>{1, 2});
}

TEST_CASE("levels: messages that no rank sends are refused") {
  progress_role.assert_held();
  test::WaitingRanks ranks;
  const auto send = [&](FrameKind kind, std::int32_t from, std::vector<std::int64_t> record) {
    FrameHeader header = FrameHeader::of(kind);
    header.count = 1;
    header.record_bytes = static_cast<std::uint32_t>(record.size() * sizeof record[0]);
    std::vector<std::byte> packet(sizeof header + header.record_bytes);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, record.data(), header.record_bytes);
    ranks.protocol(0).handle_packet(Rank(from), packet);
  };
  CHECK_THROWS_AS(send(FrameKind::level_up, 1, {1, 2}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::level_up, 1, {-1, 0, 0, 0}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::level_up, 1, {0, 0, 0, kEndedLevel}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::level_down, 1, {3, 0, 0, 0}), ProtocolError);  // rank 0 is the root
  CHECK_THROWS_AS(send(FrameKind::level_near, 1, {3, 3}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::fresh, 1, {0, 0, kEndedLevel, 0}), ProtocolError);
}

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/protocol/group/collective.hpp"
#include "lapse/protocol/group/tree_reduction.hpp"
#include "lapse/protocol/host/quiescence.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/frame_modules.hpp"

using lapse::Bytes;
using lapse::FrameKind;
using lapse::ProtocolError;
using lapse::QuiescenceCounts;
using lapse::Rank;
using lapse::TreeReduction;

namespace {

Bytes bytes_of(double value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
double value_of(const Bytes& bytes) {
  double value = 0;
  REQUIRE(bytes.size() == sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
void add_bytes(Bytes& into, const Bytes& from) {
  into = bytes_of(value_of(into) + value_of(from));
}

// The result at the root, with contributions and messages in an order that the seed determines.
double reduced(std::int32_t participants, std::uint64_t round, std::uint64_t seed,
               std::vector<TreeReduction>& trees) {
  struct Event {
    std::int32_t to;
    std::int32_t child;  // -1: the rank's own contribution
    Bytes bytes;
  };
  lapse::RandomEngine random(seed);
  std::vector<Event> waiting;
  for (std::int32_t i = 0; i < participants; ++i) {
    // Sums of these numbers depend on the order of the additions.
    const double value = lapse::PositionalRandom(round).normal(lapse::Key(static_cast<std::uint64_t>(i)), 0) *
                         (i % 2 == 0 ? 1e16 : 1);
    waiting.push_back({i, -1, bytes_of(value)});
  }
  while (!waiting.empty()) {
    std::swap(waiting[random.below(waiting.size())], waiting.back());
    Event event = std::move(waiting.back());
    waiting.pop_back();
    TreeReduction& tree = trees[static_cast<std::size_t>(event.to)];
    const auto result = event.child < 0 ? tree.contribute(std::move(event.bytes))
                                        : tree.receive(event.child, std::move(event.bytes));
    if (!result) continue;
    if (!tree.parent()) {
      CHECK(waiting.empty());
      return value_of(*result);
    }
    waiting.push_back({*tree.parent(), event.to, *result});
  }
  FAIL("the root has no result");
  return 0;
}

}  // namespace

TEST_CASE("The tree has every participant once, and parents and children agree") {
  for (std::int32_t participants = 1; participants <= 9; ++participants) {
    std::vector<int> seen(static_cast<std::size_t>(participants));
    for (std::int32_t self = 0; self < participants; ++self) {
      const TreeReduction tree(participants, self, &add_bytes);
      CHECK(tree.parent().has_value() == (self != 0));
      CHECK(tree.children().size() <= 2);
      for (const std::int32_t child : tree.children()) {
        REQUIRE(child < participants);
        ++seen[static_cast<std::size_t>(child)];
        CHECK(TreeReduction(participants, child, &add_bytes).parent() == self);
      }
    }
    CHECK(seen[0] == 0);
    CHECK(std::all_of(seen.begin() + 1, seen.end(), [](int times) { return times == 1; }));
  }
}

TEST_CASE("The result does not depend on the order of arrival, bit for bit, round after round") {
  for (std::int32_t participants = 1; participants <= 9; ++participants) {
    std::vector<TreeReduction> trees;
    for (std::int32_t self = 0; self < participants; ++self)
      trees.emplace_back(participants, self, &add_bytes);
    for (std::uint64_t round = 0; round < 5; ++round) {
      const double first = reduced(participants, round, 0, trees);
      for (std::uint64_t seed = 1; seed < 20; ++seed) {
        REQUIRE(reduced(participants, round, seed, trees) == first);
      }
    }
  }
}

TEST_CASE("The combination has each rank's contribution once") {
  for (std::int32_t participants = 1; participants <= 9; ++participants) {
    std::vector<TreeReduction> trees;
    for (std::int32_t self = 0; self < participants; ++self)
      trees.emplace_back(participants, self, &add_bytes);
    std::optional<Bytes> result;
    for (std::int32_t self = participants - 1; self >= 0; --self) {
      TreeReduction& tree = trees[static_cast<std::size_t>(self)];
      auto combined = tree.contribute(bytes_of(std::pow(10, self)));
      REQUIRE(combined.has_value());
      if (tree.parent()) {
        // The parent's own contribution is missing.
        CHECK_FALSE(trees[static_cast<std::size_t>(*tree.parent())].receive(self, *combined).has_value());
      } else {
        result = combined;
      }
    }
    double expected = 0;
    for (std::int32_t i = 0; i < participants; ++i) expected += std::pow(10, i);
    REQUIRE(result.has_value());
    CHECK(value_of(*result) == expected);
  }
}

TEST_CASE("Second contributions and strangers are refused") {
  TreeReduction tree(5, 0, &add_bytes);
  CHECK_FALSE(tree.contribute(bytes_of(1)).has_value());
  CHECK_THROWS_AS(tree.contribute(bytes_of(1)), ProtocolError);
  CHECK_FALSE(tree.receive(1, bytes_of(1)).has_value());
  CHECK_THROWS_AS(tree.receive(1, bytes_of(1)), ProtocolError);
  CHECK_THROWS_AS(tree.receive(3, bytes_of(1)), ProtocolError);
  CHECK_THROWS_AS(tree.receive(0, bytes_of(1)), ProtocolError);
  CHECK_THROWS_AS(tree.receive(-1, bytes_of(1)), ProtocolError);
}

TEST_CASE("Ranks have quiesced if all are passive and all that was sent was received") {
  CHECK(QuiescenceCounts{.sent = 10, .received = 10}.quiesced());
  CHECK(QuiescenceCounts{}.quiesced());
  CHECK(QuiescenceCounts{.sent = 5, .received = 5, .waiting = 2}.quiesced());
  CHECK_FALSE(QuiescenceCounts{.sent = 10, .received = 9}.quiesced());
  CHECK_FALSE(QuiescenceCounts{.sent = 5, .received = 5, .busy = 1}.quiesced());
}

TEST_CASE("Sums of a wave are sums of all numbers") {
  QuiescenceCounts counts{1, 2, 0, 1};
  counts += {10, 20, 1, 1};
  CHECK(counts == QuiescenceCounts{11, 22, 1, 2});
}

TEST_CASE("A rank notices frames that were sent after a cut that it has not made, and no others") {
  using Kind = lapse::CutNumber::Kind;
  lapse::CutNumber sender;
  lapse::CutNumber receiver;
  for (int cut = 0; cut < 20; ++cut) {
    const Kind kind = cut % 3 == 0 ? Kind::wave : Kind::barrier;
    const std::uint16_t before = sender.flags();
    CHECK((before & ~lapse::CutNumber::kFlags) == 0);
    const Kind other = kind == Kind::wave ? Kind::barrier : Kind::wave;
    CHECK_FALSE(receiver.is_behind(before, kind));
    CHECK(receiver.is_of(before));
    sender.advance(kind);
    CHECK(receiver.is_behind(sender.flags(), kind));
    CHECK_FALSE(receiver.is_behind(sender.flags(), other));
    CHECK_FALSE(receiver.is_of(sender.flags()));
    receiver.advance(kind);
    CHECK_FALSE(receiver.is_behind(sender.flags(), kind));
    CHECK_FALSE(receiver.is_behind(before, kind));
    CHECK(receiver.is_of(sender.flags()));
  }
}

namespace {

// Makes one sequence of collective calls on every rank of a simulated network.
struct Collectives {
  lapse::LoopbackNetwork network;
  std::vector<std::unique_ptr<lapse::Outbox>> outboxes;
  std::vector<std::unique_ptr<lapse::Collective>> calls;
  std::vector<int> completed;

  Collectives(std::int32_t ranks, const std::vector<Rank>& participants)
      : network(ranks, false), completed(static_cast<std::size_t>(ranks)) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      outboxes.push_back(
          std::make_unique<lapse::Outbox>(network.endpoint(Rank(rank)), lapse::test::all_frames()));
      int& count = completed[static_cast<std::size_t>(rank)];
      calls.push_back(std::make_unique<lapse::Collective>(*outboxes.back(), FrameKind::workers_up,
                                                          FrameKind::workers_down, [&count] { ++count; }));
      calls.back()->start(participants, Rank(rank), &add_bytes);
    }
  }

  void deliver(lapse::RandomEngine& random) {
    for (;;) {
      const auto choices = network.deliverable();
      if (choices.empty()) return;
      const auto choice = choices[random.below(choices.size())];
      network.deliver(choice, [&](Rank from, std::span<const std::byte> packet) {
        lapse::FrameHeader header;
        REQUIRE(packet.size() >= sizeof header);
        std::memcpy(&header, packet.data(), sizeof header);
        calls[choice.to.index()]->handle_frame(from, header, packet.data() + sizeof header);
      });
      outboxes[choice.to.index()]->flush();
    }
  }
};

}  // namespace

TEST_CASE("Every participant gets the result of every round; ranks without part in it get none") {
  const std::vector<Rank> participants{Rank(1), Rank(2), Rank(4), Rank(5)};
  Collectives all(7, participants);
  lapse::RandomEngine random(2);
  for (int round = 1; round <= 10; ++round) {
    std::vector<lapse::Contribution> contributions(7);
    std::vector<Rank> order = participants;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const Rank rank : order) {
      contributions[rank.index()].bytes = bytes_of(round * (rank.value() + 1));
      all.calls[rank.index()]->handle_submission(contributions[rank.index()]);
      all.outboxes[rank.index()]->flush();
      all.deliver(random);
    }
    for (const Rank rank : participants) {
      CHECK(all.calls[rank.index()]->completed_rounds() == static_cast<std::uint64_t>(round));
      CHECK(value_of(all.calls[rank.index()]->result()) == round * (2 + 3 + 5 + 6));
      CHECK(all.completed[rank.index()] == round);
    }
    CHECK(all.completed[0] == 0);
  }
}

TEST_CASE("Ranks that took no part in earlier rounds take part when the sequence is started anew") {
  Collectives all(3, {Rank(0), Rank(1)});
  lapse::RandomEngine random(2);
  std::vector<lapse::Contribution> contributions(3);
  const auto contribute = [&](std::size_t rank) {
    contributions[rank].bytes = bytes_of(1);
    all.calls[rank]->handle_submission(contributions[rank]);
    all.outboxes[rank]->flush();
    all.deliver(random);
  };
  for (const std::size_t rank : {0U, 1U}) contribute(rank);
  const std::vector<Rank> participants{Rank(0), Rank(1), Rank(2)};
  for (const Rank rank : participants) all.calls[rank.index()]->start(participants, rank, &add_bytes);
  for (const std::size_t rank : {0U, 1U, 2U}) contribute(rank);
  CHECK(all.completed == std::vector<int>{2, 2, 1});
  for (const auto& call : all.calls) CHECK(value_of(call->result()) == 3);
}

TEST_CASE("Contributions where no part is taken, or from a rank that takes none, are refused") {
  Collectives all(3, {Rank(0), Rank(1)});
  lapse::Contribution contribution;
  contribution.bytes = bytes_of(1);
  CHECK_THROWS_AS(all.calls[2]->handle_submission(contribution), ProtocolError);
  lapse::FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::workers_up);
  header.count = 1;
  header.record_bytes = 8;
  const Bytes bytes = bytes_of(1);
  CHECK_THROWS_AS(all.calls[0]->handle_frame(Rank(2), header, bytes.data()), ProtocolError);
  CHECK_THROWS_AS(all.calls[2]->handle_frame(Rank(0), header, bytes.data()), ProtocolError);
}

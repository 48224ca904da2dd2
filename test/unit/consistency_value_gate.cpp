// The gate of value bounds.
#include <limits>

#include "lapse/consistency/value_gate.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr Key kKey{7};
constexpr Key kOther{8};

}  // namespace

TEST_CASE("value gate: figure 1 of the paper: the sixth update of 2 waits until the fourth is visible") {
  constexpr double kBound = 8;
  ValueGate gate;
  for (const Level need : {1, 1, 1, 2}) {
    REQUIRE(gate.passes(kKey, 2, kBound));
    gate.add_unanswered(kKey, 2);
    gate.answered(kKey, need);
  }
  CHECK_FALSE(gate.passes(kKey, 2, kBound));  // the fifth
  gate.raise(1);
  CHECK(gate.unsynced(kKey) == 2);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(gate.passes(kKey, 2, kBound));
    gate.add_unanswered(kKey, 2);
  }
  CHECK_FALSE(gate.passes(kKey, 2, kBound));
  gate.answered(kKey, 3);
  gate.raise(2);
  CHECK(gate.passes(kKey, 2, kBound));
}

TEST_CASE("value gate: an update larger than the bound passes alone") {
  ValueGate gate;
  CHECK(gate.passes(kKey, 100, 1));
  CHECK(gate.passes(kKey, std::numeric_limits<double>::infinity(), 1));
  gate.add_unanswered(kKey, 100);
  CHECK_FALSE(gate.passes(kKey, 0.1, 1));
  CHECK(gate.passes(kOther, 0.1, 1));
  gate.answered(kKey, 1);
  CHECK_FALSE(gate.passes(kKey, 0.1, 1));
  gate.raise(1);
  CHECK(gate.passes(kKey, 0.1, 1));
}

TEST_CASE("value gate: signs do not cancel, and what is visible at once does not count") {
  ValueGate gate;
  gate.add_unanswered(kKey, 1);
  gate.answered(kKey, {});
  CHECK(gate.unsynced(kKey) == 0);
  CHECK_FALSE(gate.need(kKey));
  gate.add_unanswered(kKey, 1);
  gate.add_unanswered(kKey, 1);  // of -1
  CHECK(gate.unsynced(kKey) == 2);
}

TEST_CASE("value gate: an update waits for its own epoch, while later ones open") {
  ValueGate gate;
  gate.add_unanswered(kKey, 1);
  CHECK(gate.has_unanswered(kKey));
  gate.answered(kKey, 1);
  CHECK_FALSE(gate.has_unanswered(kKey));
  gate.add_unanswered(kKey, 2);
  gate.answered(kKey, 3);
  CHECK(gate.need(kKey) == 3);
  CHECK(gate.unsynced(kKey) == 3);
  gate.raise(1);
  CHECK(gate.unsynced(kKey) == 2);
  // The place of epoch 1 is free.
  gate.add_unanswered(kKey, 4);
  gate.answered(kKey, 4);
  CHECK(gate.unsynced(kKey) == 6);
  gate.raise(3);
  CHECK(gate.unsynced(kKey) == 4);
  gate.clear();
  CHECK(gate.unsynced(kKey) == 0);
}

TEST_CASE("value gate: each key with unanswered updates is visited") {
  ValueGate gate;
  gate.add_unanswered(kKey, 1);
  gate.add_unanswered(kOther, 1);
  int visited = 0;
  gate.for_each_unanswered([&](Key key) {
    ++visited;
    gate.answered(key, 1);
  });
  CHECK(visited == 2);
  CHECK_FALSE(gate.has_unanswered(kKey));
  CHECK(gate.unsynced(kOther) == 1);
}

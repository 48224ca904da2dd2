// Grants of changes that some copy may lack.
#include "lapse/protocol/levels/key_budgets.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "test/support/catch.hpp"

using lapse::Key;
using lapse::KeyBudgets;
using lapse::Rank;
using lapse::TableId;

namespace {

constexpr TableId kBudgetTable(0);
constexpr Key kBudgetKey(3);
constexpr Rank kBudgetRank(1);

// Releases one change, and returns the numbers of the reservations that are granted now.
std::vector<std::uint64_t> released(KeyBudgets& budgets, double magnitude, std::uint64_t grants = 1) {
  std::vector<std::uint64_t> granted;
  budgets.release(kBudgetTable, kBudgetKey, kBudgetRank, magnitude, grants,
                  [&](const KeyBudgets::Reservation& next) { granted.push_back(next.number); });
  return granted;
}

}  // namespace

TEST_CASE("budgets: changes are granted up to the bound, the others in the order of arrival") {
  KeyBudgets budgets;
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 1, 3, 8}));
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 2, 4, 8}));
  CHECK_FALSE(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 3, 2, 8}));
  // Would fit, but the other came first.
  CHECK_FALSE(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 4, 1, 8}));
  CHECK(budgets.reserve(kBudgetTable, Key(4), {kBudgetRank, 5, 8, 8}));
  CHECK(budgets.reserve(TableId(1), kBudgetKey, {kBudgetRank, 6, 8, 8}));
  CHECK(budgets.waiting() == 2);
  CHECK(budgets.outstanding(kBudgetTable, kBudgetKey) == 7);
  CHECK(released(budgets, 3) == std::vector<std::uint64_t>{3, 4});
  CHECK(budgets.waiting() == 0);
  CHECK(budgets.outstanding(kBudgetTable, kBudgetKey) == 7);
  CHECK(released(budgets, 7, 3).empty());
  CHECK(budgets.outstanding(kBudgetTable, kBudgetKey) == 0);
}

TEST_CASE("budgets: a change larger than the bound is granted alone") {
  KeyBudgets budgets;
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 1, infinite, 1}));
  CHECK_FALSE(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 2, 0.1, 1}));
  CHECK_FALSE(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 3, 5, 1}));
  CHECK(released(budgets, infinite) == std::vector<std::uint64_t>{2});
  CHECK(released(budgets, 0.1) == std::vector<std::uint64_t>{3});
  CHECK(released(budgets, 5).empty());
}

TEST_CASE("budgets: what rounding leaves of sums keeps no change out") {
  KeyBudgets budgets;
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 1, 0.1, 1}));
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 2, 0.2, 1}));
  CHECK(released(budgets, 0.1).empty());
  CHECK(released(budgets, 0.2).empty());
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 3, 5, 1}));
}

TEST_CASE("budgets: releases of what is not outstanding are refused") {
  KeyBudgets budgets;
  CHECK_THROWS_AS(released(budgets, 1), lapse::ProtocolError);
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 1, 1, 1}));
  CHECK_THROWS_AS(released(budgets, 1, 2), lapse::ProtocolError);
}

TEST_CASE("budgets: the ranks whose changes are outstanding are known") {
  KeyBudgets budgets;
  const auto holders = [&] {
    std::vector<std::int32_t> found;
    budgets.for_each_holder(kBudgetTable, kBudgetKey, [&](Rank rank) { found.push_back(rank.value()); });
    return found;
  };
  CHECK(holders().empty());
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {Rank(2), 1, 1, 4}));
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, 2, 1, 4}));
  CHECK(budgets.reserve(kBudgetTable, kBudgetKey, {Rank(2), 3, 1, 4}));
  CHECK_FALSE(budgets.reserve(kBudgetTable, kBudgetKey, {Rank(3), 4, 2, 4}));
  CHECK(budgets.waiting(kBudgetTable, kBudgetKey) == 1);
  CHECK(holders() == std::vector<std::int32_t>{2, 1});
  CHECK_THROWS_AS(released(budgets, 2, 2), lapse::ProtocolError);
  CHECK(released(budgets, 1) == std::vector<std::uint64_t>{4});
  CHECK(holders() == std::vector<std::int32_t>{2, 3});
  CHECK(budgets.waiting(kBudgetTable, kBudgetKey) == 0);
}

TEST_CASE("budgets: random reservations never exceed the bound, and all are granted") {
  std::mt19937_64 random(7);
  for (int run = 0; run < 200; ++run) {
    KeyBudgets budgets;
    const double bound = 4;
    std::vector<double> magnitudes;
    std::vector<std::uint64_t> outstanding;
    std::size_t granted = 0;
    const auto grant = [&](std::uint64_t number) {
      CHECK(number == granted++);
      outstanding.push_back(number);
    };
    while (granted < 100) {
      if (magnitudes.size() < 100 && random() % 2 == 0) {
        magnitudes.push_back(static_cast<double>(1 + random() % 6));
        const std::uint64_t number = magnitudes.size() - 1;
        if (budgets.reserve(kBudgetTable, kBudgetKey, {kBudgetRank, number, magnitudes.back(), bound}))
          grant(number);
      } else if (!outstanding.empty()) {
        const std::size_t at = random() % outstanding.size();
        const double magnitude = magnitudes[outstanding[at]];
        outstanding.erase(outstanding.begin() + static_cast<std::ptrdiff_t>(at));
        for (const std::uint64_t number : released(budgets, magnitude)) grant(number);
      }
      double sum = 0;
      for (const std::uint64_t number : outstanding) sum += magnitudes[number];
      CHECK((sum <= bound || outstanding.size() == 1));
    }
  }
}

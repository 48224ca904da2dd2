// Synthetic matrices: equal for equal seeds, with the promised frequencies and values.
#include "lapse/io/matrices/zipf_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/io/loading/shuffle.hpp"
#include "lapse/io/matrices/zipf_distribution.hpp"
#include "test/support/catch.hpp"

using lapse::io::make_zipf_matrix;
using lapse::io::ZipfDistribution;

TEST_CASE("shuffling makes every order equally likely") {
  lapse::RandomEngine random(3);
  std::map<std::string, int> counts;
  for (int i = 0; i < 60000; ++i) {
    std::string letters = "abc";
    lapse::io::shuffle(std::span(letters), random);
    ++counts[letters];
  }
  CHECK(counts.size() == 6);
  for (const auto& [order, count] : counts) CHECK(count == Approx(10000).epsilon(0.05));
}

TEST_CASE("the Zipf distribution has the frequencies of its definition") {
  const double exponent = GENERATE(0.5, 1.0, 1.1, 2.5);
  const std::uint64_t n = GENERATE(1U, 2U, 50U);
  CAPTURE(exponent, n);
  const ZipfDistribution distribution(n, exponent);
  lapse::RandomEngine random(7);
  constexpr std::size_t kDraws = 2000000;
  std::vector<std::size_t> counts(n + 1);
  for (std::size_t i = 0; i < kDraws; ++i) ++counts.at(distribution(random));
  CHECK(counts[0] == 0);
  double normaliser = 0;
  for (std::uint64_t k = 1; k <= n; ++k) normaliser += std::pow(k, -exponent);
  for (std::uint64_t k = 1; k <= n; ++k) {
    const double expected = kDraws * std::pow(k, -exponent) / normaliser;
    CHECK(std::abs(static_cast<double>(counts[k]) - expected) <= 4.5 * std::sqrt(expected) + 1);
  }
}

TEST_CASE("impossible Zipf distributions are refused") {
  CHECK_THROWS_AS(ZipfDistribution(0, 1.1), lapse::UsageError);
  CHECK_THROWS_AS(ZipfDistribution(5, 0), lapse::UsageError);
  CHECK_THROWS_AS(ZipfDistribution(5, -1), lapse::UsageError);
  CHECK_THROWS_AS(ZipfDistribution(5, std::numeric_limits<double>::quiet_NaN()), lapse::UsageError);
  CHECK_THROWS_AS(make_zipf_matrix({.rows = 0}), lapse::UsageError);
  CHECK_THROWS_AS(make_zipf_matrix({.rank = 0}), lapse::UsageError);
}

TEST_CASE("a Zipf matrix is given by its seed") {
  const lapse::io::ZipfMatrixOptions options{.rows = 300, .columns = 100, .cells = 5000, .seed = 5};
  const auto matrix = make_zipf_matrix(options);
  CHECK(matrix.rows == 300);
  CHECK(matrix.columns == 100);
  REQUIRE(matrix.cells.size() == 5000);
  CHECK(matrix.cells == make_zipf_matrix(options).cells);
  auto other = options;
  other.seed = 6;
  CHECK(matrix.cells != make_zipf_matrix(other).cells);
}

TEST_CASE("a Zipf matrix is skewed, its frequent ids are scattered and its values have variance one") {
  const auto matrix = make_zipf_matrix({.rows = 1000, .columns = 100, .cells = 100000});
  std::vector<std::size_t> rows(matrix.rows);
  std::vector<std::size_t> columns(matrix.columns);
  double squares = 0;
  for (const auto& cell : matrix.cells) {
    ++rows.at(cell.row);
    ++columns.at(cell.column);
    squares += cell.value * cell.value;
  }
  CHECK_FALSE(std::is_sorted(rows.begin(), rows.end(), std::greater<>()));
  CHECK_FALSE(std::is_sorted(columns.begin(), columns.end(), std::greater<>()));
  std::sort(rows.begin(), rows.end(), std::greater<>());
  std::sort(columns.begin(), columns.end(), std::greater<>());
  CHECK(static_cast<double>(rows[0]) / static_cast<double>(rows[1]) ==
        Approx(std::pow(2, 1.1)).epsilon(0.05));
  CHECK(static_cast<double>(columns[0]) / static_cast<double>(columns[1]) ==
        Approx(std::pow(2, 1.1)).epsilon(0.05));
  // Few frequent rows make up most of the sum, so it varies far more than the number of cells suggests.
  CHECK(squares / static_cast<double>(matrix.cells.size()) == Approx(1).margin(0.6));
}

// Principal components, and which rows of a model are drawn.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/report/embedding_page.hpp"
#include "apps/report/principal_components.hpp"
#include "apps/report/symmetric_matrix.hpp"
#include "apps/report_tool/chosen_rows.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

EmbeddingRows rows_of(std::vector<float> values, std::size_t length) {
  EmbeddingRows rows;
  rows.title = "rows";
  rows.length = length;
  for (std::size_t i = 0; i < values.size() / length; ++i) {
    rows.names.push_back("row " + std::to_string(i));
    rows.labelled.push_back(true);
    rows.group.emplace_back(0);
  }
  rows.values = std::move(values);
  return rows;
}

NamedRows named_rows() {
  io::Vocabulary names;
  names.add("rare", 1);
  names.add("often", 9);
  names.add("some", 5);
  return {RowNames("word", std::move(names)), {3, 4, 0, 2, 1, 0}};
}

}  // namespace

TEST_CASE("components of points on two axes are these axes") {
  // Standard deviations 2 along (3, 4) / 5 and 1 along (-4, 3) / 5, around (10, 20).
  std::vector<float> values;
  for (const auto& [a, b] : {std::pair{2.0, 0.0}, {-2.0, 0.0}, {0.0, 1.0}, {0.0, -1.0}}) {
    values.push_back(static_cast<float>(10 + 0.6 * a - 0.8 * b));
    values.push_back(static_cast<float>(20 + 0.8 * a + 0.6 * b));
  }
  const PrincipalComponents components = principal_components(values, 2, 2);
  CHECK(components.shares[0] == Approx(0.8).epsilon(1e-6));
  CHECK(components.shares[1] == Approx(0.2).epsilon(1e-6));
  const std::vector<double> expected{2, 0, -2, 0, 0, 1, 0, -1};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(components.coordinates[i] == Approx(expected[i]).margin(1e-5));
}

TEST_CASE("components of products of columns and of rows keep distances, and have one sign") {
  RandomEngine random(11);
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{5, 40}, {40, 5}, {30, 30}, {1, 3}, {3, 1}}) {
    std::vector<float> values(rows * columns);
    for (float& value : values) value = static_cast<float>(random.uniform());
    const std::size_t count = std::min(rows, columns);
    const PrincipalComponents components = principal_components(values, columns, count);
    double sum = 0;
    for (std::size_t c = 0; c < count; ++c) {
      sum += components.shares[c];
      if (c > 0) CHECK(components.shares[c] <= components.shares[c - 1] + 1e-12);
      double largest = 0;
      for (std::size_t row = 0; row < rows; ++row) {
        const double coordinate = components.coordinates[row * count + c];
        if (std::abs(coordinate) > std::abs(largest)) largest = coordinate;
      }
      CHECK(largest >= 0);
    }
    CHECK(sum == Approx(rows == 1 ? 0 : 1).margin(1e-9));
    for (std::size_t a = 0; a < rows; ++a) {
      double before = 0;
      double after = 0;
      for (std::size_t k = 0; k < columns; ++k)
        before += std::pow(double{values[a * columns + k]} - double{values[k]}, 2);
      for (std::size_t c = 0; c < count; ++c)
        after += std::pow(components.coordinates[a * count + c] - components.coordinates[c], 2);
      CHECK(after == Approx(before).margin(1e-6));
    }
  }
}

TEST_CASE("components of rows without variance, or with fewer directions than are asked for") {
  const PrincipalComponents equal = principal_components(std::vector<float>(12, 3.5F), 3, 2);
  CHECK(equal.shares == std::vector<double>{0, 0});
  CHECK(equal.coordinates == std::vector<double>(8));
  const PrincipalComponents line =
      principal_components(std::vector<float>{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}, 3, 2);
  CHECK(line.shares[0] == Approx(1));
  CHECK(line.shares[1] == Approx(0).margin(1e-12));
  CHECK(principal_components({}, 3, 2).coordinates.empty());
  const std::size_t large = kMaxComponentSides + 1;
  CHECK_THROWS_AS(principal_components(std::vector<float>(large * large), large, 2), ConfigurationError);
}

TEST_CASE("eigenvectors of a matrix that is known") {
  const EigenPairs pairs = largest_eigen_pairs({3, {2, -1, 0, -1, 2, -1, 0, -1, 2}}, 4);
  REQUIRE(pairs.values.size() == 3);
  CHECK(pairs.values[0] == Approx(2 + std::sqrt(2)));
  CHECK(pairs.values[1] == Approx(2));
  CHECK(pairs.values[2] == Approx(2 - std::sqrt(2)));
  CHECK(std::abs(pairs.vectors[1][1]) < 1e-12);
  const EigenPairs largest = largest_eigen_pairs({3, {2, -1, 0, -1, 2, -1, 0, -1, 2}}, 2);
  REQUIRE(largest.values.size() == 2);
  CHECK(largest.values[1] == Approx(2));
}

TEST_CASE("rows are chosen by frequency, or as a file of labels says") {
  const lapse::test::TemporaryDirectory directory;
  const NamedRows rows = named_rows();
  const EmbeddingRows frequent = choose_rows(rows, {.label_count = 1, .points = 2});
  CHECK(frequent.names == std::vector<std::string>{"often", "some"});
  CHECK(frequent.labelled == std::vector<bool>{true, false});
  CHECK(frequent.values == std::vector<float>{0, 2, 1, 0});
  const std::string labels = directory.write("labels", "rare\tRare one\tfirst\n\nsome\nrare\n");
  const EmbeddingRows labelled = choose_rows(rows, {.labels = labels, .points = 0, .unit_length = true});
  CHECK(labelled.names == std::vector<std::string>{"Rare one", "some", "often"});
  CHECK(labelled.labelled == std::vector<bool>{true, true, false});
  CHECK(labelled.groups == std::vector<std::string>{"first", "labelled"});
  CHECK(labelled.values[0] == 0.6F);
  CHECK_FALSE(labelled.group[2]);
  CHECK(labelled.remark.empty());
  const EmbeddingRows some = choose_rows(rows, {.labels = directory.write("some", "never\nrare\nalas\n")});
  CHECK_THAT(some.remark, Contains("2 of the names") && Contains("'never'"));
  CHECK_THAT(embedding_page(some), Contains("Not in the model: 2"));
  CHECK_THROWS_WITH(choose_rows(rows, {.labels = directory.write("bad", "never\n")}),
                    Contains("bad") && Contains("'never'"));
}

TEST_CASE("a page of rows shows them with their names, and refuses those that are no numbers") {
  EmbeddingRows rows = rows_of({1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 2, 2}, 3);
  rows.names[0] = "<script>";
  rows.origin = "word_vectors text.txt";
  const std::string page = embedding_page(rows);
  CHECK_THAT(page, Contains("&lt;script&gt;") && !Contains("<script") && Contains("component 1: ") &&
                       Contains("text.txt"));
  CHECK_THAT(page, Contains("4 rows of 3 numbers"));
  CHECK(embedding_page(rows) == page);
  rows.values[4] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(embedding_page(rows), Contains("'row 1'"));
  CHECK_THROWS_AS(embedding_page({}), ConfigurationError);
  CHECK_NOTHROW(embedding_page(rows_of({1, 2}, 2)));
  CHECK_NOTHROW(embedding_page(rows_of({1, 2, 3}, 1)));
}

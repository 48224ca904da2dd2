// Exponentials, products of matrices, and losses of scores, compared with their definitions.
#include <cmath>
#include <limits>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/exponentials.hpp"
#include "apps/knowledge_graph_embeddings/matrix_product.hpp"
#include "apps/knowledge_graph_embeddings/score_losses.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;

namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  RandomEngine random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.uniform() - 0.5);
  return numbers;
}

}  // namespace

TEST_CASE("exponentials are exact to a few units in the last place, with equal bits everywhere") {
  std::vector<float> numbers(4001);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) * -0.0217F + 2;
  constexpr float kShift = 2;
  std::vector<float> expected = numbers;
  const float sum = exponentiate(expected, kShift, Isa::portable);
  double exact_sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double exact = std::exp(double{numbers[i]} - double{kShift});
    exact_sum += exact;
    CHECK(expected[i] == Approx(exact).epsilon(3e-7));
  }
  CHECK(sum == Approx(exact_sum).epsilon(1e-6));
  for (const Isa isa : kAllIsas) {
    if (!isa_available(isa)) continue;
    std::vector<float> results = numbers;
    CHECK(exponentiate(results, kShift, isa) == sum);
    CHECK(results == expected);
  }
}

TEST_CASE("exponentials at the ends of the range") {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers{-infinity, -1000, 0, std::numeric_limits<float>::quiet_NaN()};
  exponentiate(numbers, 0);
  CHECK(numbers[0] < 1e-37F);
  CHECK(numbers[1] < 1e-37F);
  CHECK(numbers[2] == 1);
  CHECK(std::isnan(numbers[3]));
  CHECK(exponentiate({}, 3) == 0);
}

TEST_CASE("the largest of numbers") {
  for (const Isa isa : kAllIsas) {
    if (!isa_available(isa)) continue;
    std::vector<float> numbers = random_floats(53, 3);
    for (const std::size_t position : {0U, 31U, 52U}) {
      numbers[position] = 2 + static_cast<float>(position);
      CHECK(largest(numbers, isa) == numbers[position]);
    }
    CHECK(largest({}, isa) == -std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("products of matrices are those of loops") {
  constexpr std::size_t kRows = 5;
  constexpr std::size_t kColumns = 7;
  constexpr std::size_t kInner = 3;
  const std::vector<float> a = random_floats(kRows * kInner, 1);     // rows x inner
  const std::vector<float> b = random_floats(kColumns * kInner, 2);  // columns x inner
  std::vector<float> product(kRows * kColumns, 9);
  multiply_transposed(a.data(), b.data(), product.data(), kRows, kColumns, kInner);
  std::vector<float> back = random_floats(kRows * kInner, 4);
  std::vector<float> expected_back = back;
  std::vector<float> other = random_floats(kColumns * kInner, 5);
  std::vector<float> expected_other = other;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < kInner; ++k) sum += a[i * kInner + k] * b[j * kInner + k];
      CHECK(product[i * kColumns + j] == Approx(sum).margin(1e-6));
      for (std::size_t k = 0; k < kInner; ++k) {
        expected_back[i * kInner + k] += sum * b[j * kInner + k];
        expected_other[j * kInner + k] += sum * a[i * kInner + k];
      }
    }
  }
  add_matrix_product(product.data(), b.data(), back.data(), kRows, kInner, kColumns);
  add_transposed_product(product.data(), a.data(), other.data(), kColumns, kInner, kRows);
  for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == Approx(expected_back[i]).margin(1e-6));
  for (std::size_t i = 0; i < other.size(); ++i) CHECK(other[i] == Approx(expected_other[i]).margin(1e-6));
  multiply_transposed(a.data(), b.data(), product.data(), kRows, 0, kInner);
  add_matrix_product(product.data(), b.data(), back.data(), kRows, kInner, 0);
  add_transposed_product(product.data(), a.data(), other.data(), 0, kInner, kRows);
}

TEST_CASE("a model's matrix of scores, and its gradients, are those of pair by pair") {
  const auto kind = GENERATE(ModelKind::complex, ModelKind::distmult, ModelKind::rescal, ModelKind::transe);
  const auto model = make_model({.kind = kind, .dimensions = 6});
  const std::size_t length = model->entity_length();
  constexpr std::size_t kQueries = 4;
  constexpr std::size_t kCandidates = 9;
  const std::vector<float> queries = random_floats(kQueries * length, 1);
  const std::vector<float> candidates = random_floats(kCandidates * length, 2);
  const std::vector<float> slopes = random_floats(kQueries * kCandidates, 3);
  std::vector<float> scores(kQueries * kCandidates);
  model->score_matrix(queries, candidates, scores);
  std::vector<float> query_gradients(queries.size(), 1);
  std::vector<float> candidate_gradients(candidates.size(), 2);
  std::vector<float> expected_queries = query_gradients;
  std::vector<float> expected_candidates = candidate_gradients;
  model->add_score_matrix_gradients(queries, candidates, slopes, query_gradients, candidate_gradients);
  const auto row = [&](auto& matrix, std::size_t i) { return std::span(matrix).subspan(i * length, length); };
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto query = row(queries, i / kCandidates);
    const auto candidate = row(candidates, i % kCandidates);
    CHECK(scores[i] == Approx(model->score(query, candidate)).margin(1e-6));
    model->add_score_gradient(query, candidate, slopes[i], row(expected_queries, i / kCandidates),
                              row(expected_candidates, i % kCandidates));
  }
  for (std::size_t i = 0; i < queries.size(); ++i)
    CHECK(query_gradients[i] == Approx(expected_queries[i]).margin(1e-5));
  for (std::size_t i = 0; i < candidates.size(); ++i)
    CHECK(candidate_gradients[i] == Approx(expected_candidates[i]).margin(1e-5));
}

TEST_CASE("the softmax loss and its slopes are those of the definition") {
  float truth = 0.25F;
  std::vector<float> negatives{1, -2, 0.5F};
  double sum = std::exp(0.25);
  std::vector<double> shares;
  for (const float negative : negatives) {
    shares.push_back(std::exp(double{negative}));
    sum += shares.back();
  }
  CHECK(softmax_loss(truth, negatives) == Approx(std::log(sum) - 0.25));
  CHECK(truth == Approx(std::exp(0.25) / sum - 1));
  for (std::size_t i = 0; i < negatives.size(); ++i) CHECK(negatives[i] == Approx(shares[i] / sum));
}

TEST_CASE("the softmax loss without negatives, without one, and of large scores") {
  float truth = 3;
  CHECK(softmax_loss(truth, {}) == 0);
  CHECK(truth == 0);
  truth = 1;
  std::vector<float> left_out{-std::numeric_limits<float>::infinity(), 1};
  CHECK(softmax_loss(truth, left_out) == Approx(std::log(2)));
  CHECK(left_out[0] == Approx(0).margin(1e-30));
  CHECK(left_out[1] == Approx(0.5));
  truth = -5000;
  std::vector<float> large{5000, 4000};
  CHECK(softmax_loss(truth, large) == Approx(10000));
  CHECK(truth == -1);
  CHECK(large[0] == 1);
  truth = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(std::isfinite(softmax_loss(truth, large)));
}

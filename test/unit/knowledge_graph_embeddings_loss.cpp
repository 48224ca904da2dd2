// The loss of a triple with its own negatives, and its gradients.
#include "apps/knowledge_graph_embeddings/triple_loss.hpp"

#include <cmath>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/knowledge_graph_embeddings_sample.hpp"

using namespace lapse::apps;
using lapse::test::check_gradients;
using lapse::test::EmbeddingSample;

namespace {

struct Numbers {
  std::size_t subject;
  std::size_t object;
  std::vector<std::size_t> other_subjects;
  std::vector<std::size_t> other_objects;
  bool reciprocal = false;
};

double add_gradients(const EmbeddingModel& model, const LossOptions& options, EmbeddingSample& sample,
                     const Numbers& numbers) {
  std::vector<EmbeddingRow> other_subjects;
  std::vector<EmbeddingRow> other_objects;
  for (const std::size_t number : numbers.other_subjects) other_subjects.push_back(sample.entity(number));
  for (const std::size_t number : numbers.other_objects) other_objects.push_back(sample.entity(number));
  TripleLoss loss(model, options);
  loss.seed(3, 4);
  return loss.add_gradients({sample.entity(numbers.subject), sample.relation(), sample.entity(numbers.object),
                             other_subjects, other_objects,
                             numbers.reciprocal ? sample.inverse() : EmbeddingRow{}});
}

// The function whose gradients are checked.
double regularized_loss(const EmbeddingModel& model, const LossOptions& options, EmbeddingSample& sample,
                        const Numbers& numbers) {
  const auto of = [&](const EmbeddingRow& row, std::size_t length) {
    return lapse::test::regularization(options, model.has_complex_numbers(), row.value, length);
  };
  const double entities = of(sample.entity(numbers.subject), model.entity_length()) +
                          of(sample.entity(numbers.object), model.entity_length());
  double sum = entities + of(sample.relation(), model.relation_length());
  if (numbers.reciprocal) sum += entities + of(sample.inverse(), model.relation_length());
  return sum + add_gradients(model, options, sample, numbers);
}

}  // namespace

TEST_CASE("gradients are the derivatives of the loss") {
  const auto kind = GENERATE(ModelKind::complex, ModelKind::distmult, ModelKind::rescal, ModelKind::transe);
  const auto loss = GENERATE(LossKind::logistic, LossKind::softmax);
  const auto [l2, n3, dropout] =
      GENERATE(table<double, double, double>({{0, 0, 0}, {0.3, 0, 0}, {0, 0.2, 0}, {0.1, 0.1, 0.4}}));
  const LossOptions options{
      .kind = loss, .l2 = l2, .n3 = n3, .dropout = {.entity = dropout, .relation = dropout}};
  const auto model = make_model({.kind = kind, .dimensions = 5, .margin = 1.5});
  // Entities with several roles: a subject that is its own object, a negative that is the correct answer.
  Numbers numbers = GENERATE(Numbers{0, 1, {2, 3}, {4, 4, 3}}, Numbers{0, 1, {}, {2}}, Numbers{0, 1, {2}, {}},
                             Numbers{0, 1, {}, {}}, Numbers{0, 1, {0, 1}, {1}}, Numbers{0, 0, {1, 2}, {3}});
  numbers.reciprocal = GENERATE(false, true);
  // At distance 0 TransE has no derivative.
  if (kind == ModelKind::transe && numbers.other_subjects == std::vector<std::size_t>{0, 1}) return;
  CAPTURE(static_cast<int>(kind), static_cast<int>(loss), l2, n3, dropout, numbers.subject, numbers.object,
          numbers.reciprocal);
  EmbeddingSample sample(*model, 5, 11);
  add_gradients(*model, options, sample, numbers);
  const std::vector<float> gradients = sample.gradients;
  check_gradients(sample, gradients, [&] { return regularized_loss(*model, options, sample, numbers); });
}

TEST_CASE("gradients are added to what is there") {
  const auto model = make_model({.kind = ModelKind::complex, .dimensions = 3});
  const Numbers numbers{0, 1, {2}, {3}};
  EmbeddingSample sample(*model, 4, 5);
  add_gradients(*model, {.l2 = 0.1}, sample, numbers);
  const std::vector<float> once = sample.gradients;
  add_gradients(*model, {.l2 = 0.1}, sample, numbers);
  for (std::size_t i = 0; i < once.size(); ++i)
    CHECK(sample.gradients[i] == Approx(2 * once[i]).margin(1e-6));
}

TEST_CASE("large scores give large losses, not infinite ones") {
  const auto model = make_model({.kind = ModelKind::distmult, .dimensions = 1});
  EmbeddingSample sample(*model, 2, 1);
  sample.values = {1000, 1, -5, 0};  // two entities, the relation and its inverse
  const double loss = add_gradients(*model, {.l2 = 0}, sample, {0, 1, {}, {}});
  CHECK(loss == Approx(5000));
  CHECK(sample.gradients[0] == Approx(5));
  CHECK(sample.gradients[1] == Approx(5000));
  CHECK(sample.gradients[2] == Approx(-1000));
}

TEST_CASE("dropout leaves out its share of a query's numbers, and scales the others") {
  const auto model = make_model({.kind = ModelKind::distmult, .dimensions = 20000});
  const double share = GENERATE(0.0, 0.25, 0.9);
  CAPTURE(share);
  EmbeddingSample sample(*model, 1, 1);
  std::fill(sample.values.begin(), sample.values.end(), 1.0F);
  QueryMaker maker(*model, {.entity = share, .relation = 0});
  maker.seed(1, 2);
  std::vector<float> query(20000);
  const lapse::RandomEngine dropped = maker.make(Side::object, sample.entity(0), sample.relation(), query);
  std::size_t zeros = 0;
  for (const float number : query) {
    zeros += number == 0 ? 1 : 0;
    if (number != 0) CHECK(number == Approx(1 / (1 - share)));
  }
  CHECK(static_cast<double>(zeros) == Approx(20000 * share).margin(350));
  // The gradient omits the same numbers.
  maker.add_gradient(dropped, Side::object, sample.entity(0), sample.relation(),
                     std::vector<float>(20000, 1));
  CHECK(std::vector<float>(sample.gradients.begin(), sample.gradients.begin() + 20000) == query);
}

TEST_CASE("what is dropped depends on seed and stream") {
  const auto model = make_model({.kind = ModelKind::complex, .dimensions = 50});
  EmbeddingSample sample(*model, 1, 1);
  const auto query = [&](std::uint64_t seed, std::uint64_t stream) {
    QueryMaker maker(*model, {.entity = 0.5, .relation = 0.5});
    maker.seed(seed, stream);
    std::vector<float> numbers(100);
    maker.make(Side::object, sample.entity(0), sample.relation(), numbers);
    return numbers;
  };
  CHECK(query(1, 2) == query(1, 2));
  CHECK(query(1, 2) != query(1, 3));
  CHECK(query(1, 2) != query(2, 2));
}

// The loss of a triple with its negatives, and its gradients.
#include "apps/knowledge_graph_embeddings/triple_loss.hpp"

#include <cmath>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;

namespace {

// Embeddings of a few entities and one relation; a sample refers to entities by number.
struct Sample {
  Sample(const EmbeddingModel& model, std::size_t entities, std::uint64_t seed)
      : entity_length(model.entity_length()),
        values(entities * model.entity_length() + model.relation_length()),
        gradients(values.size()) {
    lapse::RandomEngine random(seed);
    for (float& value : values) value = static_cast<float>(random.uniform() - 0.5);
  }

  EmbeddingRow entity(std::size_t number) {
    return {values.data() + number * entity_length, gradients.data() + number * entity_length};
  }
  EmbeddingRow relation(const EmbeddingModel& model) {
    const std::size_t begin = values.size() - model.relation_length();
    return {values.data() + begin, gradients.data() + begin};
  }

  std::size_t entity_length;
  std::vector<float> values;
  std::vector<float> gradients;
};

struct Numbers {
  std::size_t subject;
  std::size_t object;
  std::vector<std::size_t> other_subjects;
  std::vector<std::size_t> other_objects;
};

double add_gradients(const EmbeddingModel& model, double l2, Sample& sample, const Numbers& numbers) {
  std::vector<EmbeddingRow> other_subjects;
  std::vector<EmbeddingRow> other_objects;
  for (const std::size_t number : numbers.other_subjects) other_subjects.push_back(sample.entity(number));
  for (const std::size_t number : numbers.other_objects) other_objects.push_back(sample.entity(number));
  TripleLoss loss(model, l2);
  return loss.add_gradients({sample.entity(numbers.subject), sample.relation(model),
                             sample.entity(numbers.object), other_subjects, other_objects});
}

double squares(const float* value, std::size_t length) {
  double sum = 0;
  for (std::size_t k = 0; k < length; ++k) sum += double{value[k]} * double{value[k]};
  return sum;
}

// What the gradients are those of.
double regularized_loss(const EmbeddingModel& model, double l2, Sample& sample, const Numbers& numbers) {
  return add_gradients(model, l2, sample, numbers) +
         l2 / 2 *
             (squares(sample.entity(numbers.subject).value, model.entity_length()) +
              squares(sample.entity(numbers.object).value, model.entity_length()) +
              squares(sample.relation(model).value, model.relation_length()));
}

}  // namespace

TEST_CASE("gradients are the derivatives of the loss") {
  const auto kind = GENERATE(ModelKind::complex, ModelKind::distmult, ModelKind::rescal, ModelKind::transe);
  const double l2 = GENERATE(0.0, 0.3);
  const auto model = make_model({.kind = kind, .dimensions = 5, .margin = 1.5});
  // Entities that take several parts: a subject that is its own object, a negative that is the truth.
  const Numbers numbers =
      GENERATE(Numbers{0, 1, {2, 3}, {4, 4, 3}}, Numbers{0, 1, {}, {2}}, Numbers{0, 1, {2}, {}},
               Numbers{0, 1, {}, {}}, Numbers{0, 1, {0, 1}, {1}}, Numbers{0, 0, {1, 2}, {3}});
  // At distance 0 TransE has no derivative.
  if (kind == ModelKind::transe && numbers.other_subjects == std::vector<std::size_t>{0, 1}) return;
  CAPTURE(static_cast<int>(kind), l2, numbers.subject, numbers.object);
  Sample sample(*model, 5, 11);
  add_gradients(*model, l2, sample, numbers);
  const std::vector<float> gradients = sample.gradients;
  constexpr float kStep = 0x1p-7F;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    const float value = sample.values[i];
    sample.values[i] = value + kStep;
    const double above = regularized_loss(*model, l2, sample, numbers);
    sample.values[i] = value - kStep;
    const double below = regularized_loss(*model, l2, sample, numbers);
    sample.values[i] = value;
    CHECK((above - below) / (2 * double{kStep}) == Approx(gradients[i]).margin(2e-3));
  }
}

TEST_CASE("gradients are added to what is there") {
  const auto model = make_model({.kind = ModelKind::complex, .dimensions = 3});
  const Numbers numbers{0, 1, {2}, {3}};
  Sample sample(*model, 4, 5);
  add_gradients(*model, 0.1, sample, numbers);
  const std::vector<float> once = sample.gradients;
  add_gradients(*model, 0.1, sample, numbers);
  for (std::size_t i = 0; i < once.size(); ++i)
    CHECK(sample.gradients[i] == Approx(2 * once[i]).margin(1e-6));
}

TEST_CASE("large scores give large losses, not infinite ones") {
  const auto model = make_model({.kind = ModelKind::distmult, .dimensions = 1});
  Sample sample(*model, 2, 1);
  sample.values = {1000, 1, -5};  // two entities, the relation
  const double loss = add_gradients(*model, 0, sample, {0, 1, {}, {}});
  CHECK(loss == Approx(5000));
  CHECK(sample.gradients[0] == Approx(5));
  CHECK(sample.gradients[1] == Approx(5000));
  CHECK(sample.gradients[2] == Approx(-1000));
}

// Scores of the models, compared with their definitions.
#include <cmath>
#include <complex>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;

namespace {

using Value = std::vector<float>;

Value random_value(std::size_t length, lapse::RandomEngine& random) {
  Value value(length);
  for (float& element : value) element = static_cast<float>(random.uniform() - 0.5);
  return value;
}

std::complex<double> complex_at(const Value& value, std::size_t k) {
  return {value[k], value[k + value.size() / 2]};
}

// In double precision, from the papers.
double defined_score(const ModelOptions& options, const Value& s, const Value& r, const Value& o) {
  const std::size_t n = options.dimensions;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    switch (options.kind) {
      case ModelKind::complex:
        sum += (complex_at(s, i) * complex_at(r, i) * std::conj(complex_at(o, i))).real();
        break;
      case ModelKind::distmult:
        sum += double{s[i]} * double{r[i]} * double{o[i]};
        break;
      case ModelKind::rescal:
        for (std::size_t j = 0; j < n; ++j) sum += double{s[i]} * double{r[i * n + j]} * double{o[j]};
        break;
      case ModelKind::transe:
        sum += std::pow(double{s[i]} + double{r[i]} - double{o[i]}, 2);
        break;
    }
  }
  return options.kind == ModelKind::transe ? options.margin - std::sqrt(sum) : sum;
}

}  // namespace

TEST_CASE("a score is that of the model's definition, whichever entity is asked for") {
  ModelOptions options;
  options.kind = GENERATE(ModelKind::complex, ModelKind::distmult, ModelKind::rescal, ModelKind::transe);
  options.dimensions = GENERATE(1, 3, 16, 37);
  CAPTURE(static_cast<int>(options.kind), options.dimensions);
  const auto model = make_model(options);
  lapse::RandomEngine random(7);
  const Value s = random_value(model->entity_length(), random);
  const Value r = random_value(model->relation_length(), random);
  const Value o = random_value(model->entity_length(), random);
  const double expected = defined_score(options, s, r, o);
  Value query(model->entity_length());
  model->query(Side::object, s, r, query);
  CHECK(model->score(query, o) == Approx(expected).margin(1e-5));
  model->query(Side::subject, o, r, query);
  CHECK(model->score(query, s) == Approx(expected).margin(1e-5));
}

TEST_CASE("lengths are those of the models") {
  const auto lengths = [](ModelKind kind) {
    const auto model = make_model({.kind = kind, .dimensions = 6});
    return std::pair(model->entity_length(), model->relation_length());
  };
  CHECK(lengths(ModelKind::complex) == std::pair<std::size_t, std::size_t>(12, 12));
  CHECK(lengths(ModelKind::distmult) == std::pair<std::size_t, std::size_t>(6, 6));
  CHECK(lengths(ModelKind::rescal) == std::pair<std::size_t, std::size_t>(6, 36));
  CHECK(lengths(ModelKind::transe) == std::pair<std::size_t, std::size_t>(6, 6));
}

TEST_CASE("scores of many candidates are those of each, bit for bit") {
  ModelOptions options;
  options.kind = GENERATE(ModelKind::complex, ModelKind::distmult, ModelKind::rescal, ModelKind::transe);
  options.dimensions = 21;
  const auto model = make_model(options);
  lapse::RandomEngine random(3);
  const std::size_t length = model->entity_length();
  const Value query = random_value(length, random);
  const Value candidates = random_value(9 * length, random);
  Value scores(9);
  model->scores(query, candidates, scores);
  for (std::size_t i = 0; i < scores.size(); ++i)
    CHECK(scores[i] == model->score(query, std::span(candidates).subspan(i * length, length)));
}

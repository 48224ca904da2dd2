// Predictions and gradient steps of the factorization.
#include "apps/matrix_factorization/model.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using lapse::apps::FactorModel;
using lapse::apps::SgdSteps;

namespace {

using Value = std::vector<float>;

Value random_value(std::size_t length, lapse::RandomEngine& random) {
  Value value(length);
  for (float& element : value) element = static_cast<float>(random.uniform() - 0.5);
  return value;
}

// The loss of one cell in double precision, defined like in the comment of FactorModel.
double loss(const FactorModel& model, const Value& row, const Value& column, double cell,
            const SgdSteps& steps) {
  double prediction = double{model.mean()};
  double factors = 0;
  for (std::size_t k = 0; k < model.rank(); ++k) {
    prediction += double{row[k]} * double{column[k]};
    factors += double{row[k]} * double{row[k]} + double{column[k]} * double{column[k]};
  }
  double biases = 0;
  if (model.has_biases()) {
    const double row_bias{row.back()};
    const double column_bias{column.back()};
    prediction += row_bias + column_bias;
    biases = row_bias * row_bias + column_bias * column_bias;
  }
  const double error = cell - prediction;
  return 0.5 * error * error + 0.5 * double{steps.l2_factors} * factors +
         0.5 * double{steps.l2_biases} * biases;
}

// The derivative of the loss by an element of row or column, as a difference of two losses.
double derivative(const std::function<double()>& loss_now, float& element) {
  constexpr float kProbe = 1.0F / 256;
  const float original = element;
  element = original + kProbe;
  const double above = loss_now();
  element = original - kProbe;
  const double below = loss_now();
  element = original;
  return (above - below) / (2 * double{kProbe});
}

}  // namespace

TEST_CASE("a step follows the negative gradient of the loss, for every rank") {
  const std::size_t rank = GENERATE(1U, 3U, 15U, 16U, 17U, 32U, 45U, 64U);
  const bool biases = GENERATE(true, false);
  CAPTURE(rank, biases);
  const FactorModel model(rank, biases, 2.5F);
  CHECK(model.length() == rank + (biases ? 1 : 0));
  lapse::RandomEngine random(rank);
  const Value row = random_value(model.length(), random);
  const Value column = random_value(model.length(), random);
  const SgdSteps steps{0.125F, 0.25F, 0.5F};
  const float cell = 4;

  Value new_column = column;
  Value row_change(model.length());
  const float error = model.step(row.data(), new_column.data(), row_change.data(), cell, steps);
  CHECK(double{error} == Approx(double{cell} - double{model.predict(row.data(), column.data())}));
  CHECK(0.5 * std::pow(double{error}, 2) == Approx(loss(model, row, column, cell, {})).epsilon(1e-4));
  Value probed_row = row;
  Value probed_column = column;
  const auto loss_now = [&] { return loss(model, probed_row, probed_column, double{cell}, steps); };
  for (std::size_t k = 0; k < model.length(); ++k) {
    CHECK(double{row_change[k]} == Approx(-0.125 * derivative(loss_now, probed_row[k])).margin(1e-5));
    CHECK(double{new_column[k] - column[k]} ==
          Approx(-0.125 * derivative(loss_now, probed_column[k])).margin(1e-5));
  }
}

TEST_CASE("a step in place and a step along the gradients change what a step changes, bit for bit") {
  const std::size_t rank = GENERATE(1U, 16U, 17U, 45U);
  const bool biases = GENERATE(true, false);
  const FactorModel model(rank, biases, 2.5F);
  lapse::RandomEngine random(rank);
  const Value row = random_value(model.length(), random);
  const Value column = random_value(model.length(), random);
  const SgdSteps steps{1, 0.25F, 0.5F};
  Value stepped = column;
  Value row_change(model.length());
  const float error = model.step(row.data(), stepped.data(), row_change.data(), 4, steps);

  Value row_in_place = row;
  Value column_in_place = column;
  CHECK(model.step(row_in_place.data(), column_in_place.data(), 4, steps) == error);
  CHECK(column_in_place == stepped);
  Value row_gradient(model.length());
  Value column_gradient(model.length());
  CHECK(model.gradients(row.data(), column.data(), row_gradient.data(), column_gradient.data(), 4, steps) ==
        error);
  for (std::size_t k = 0; k < model.length(); ++k) {
    CHECK(row_in_place[k] == row[k] + row_change[k]);
    CHECK(row[k] - row_gradient[k] == row_in_place[k]);
    CHECK(column[k] - column_gradient[k] == stepped[k]);
  }
}

TEST_CASE("a prediction is the mean plus biases plus the product of the factors") {
  const Value row{1, 2, 3, 0.5F};
  const Value column{4, 5, 6, 0.25F};
  CHECK(FactorModel(3, true, 10).predict(row.data(), column.data()) == 10 + 0.75F + 32);
  CHECK(FactorModel(3, false, 10).predict(row.data(), column.data()) == 42);
}

// The model of matrix factorization and its stochastic gradient descent.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace lapse::apps {

// Step size and regularization of one epoch.
struct SgdSteps {
  float learning_rate = 0;
  float l2_factors = 0;
  float l2_biases = 0;
  float scale = 1;  // learning rate divided by the first epoch's, for pushes that carry gradients
};

// A cell is predicted as  mean + b_row + b_column + p_row . q_column,  or without the biases.
//
// A row or column is one value of length(): `rank` factors, then, with biases, its bias. For one cell, the
// gradient is that of
//   1/2 error^2 + l2_factors/2 (|p|^2 + |q|^2) + l2_biases/2 (b_row^2 + b_column^2)
// so that a row or column is regularized in proportion to its number of cells. Immutable.
class FactorModel {
 public:
  FactorModel(std::size_t rank, bool biases, float mean) : rank_(rank), biases_(biases), mean_(mean) {}

  std::size_t rank() const { return rank_; }
  bool has_biases() const { return biases_; }
  std::size_t length() const { return rank_ + (biases_ ? 1 : 0); }
  float mean() const { return mean_; }

  float predict(const float* row, const float* column) const {
    return mean_ + (biases_ ? row[rank_] + column[rank_] : 0.0F) + dot(row, column, rank_);
  }

  // One step for a cell of this value: changes the column in place and writes the change of the row to
  // row_change. All three have length() elements and do not overlap. Returns the error (value - prediction)
  // before the step.
  float step(const float* row, float* column, float* row_change, float value, const SgdSteps& steps) const {
    const float error = value - predict(row, column);
    const float gradient = steps.learning_rate * error;
    const float decay = steps.learning_rate * steps.l2_factors;
    update_factors(row, column, row_change, gradient, decay);
    if (biases_) {
      const float bias_decay = steps.learning_rate * steps.l2_biases;
      row_change[rank_] = gradient - bias_decay * row[rank_];
      column[rank_] += gradient - bias_decay * column[rank_];
    }
    return error;
  }

  // The same step, bit for bit, for row and column in place.
  float step(float* row, float* column, float value, const SgdSteps& steps) const {
    const float error = value - predict(row, column);
    const float gradient = steps.learning_rate * error;
    const float decay = steps.learning_rate * steps.l2_factors;
    update_factors(row, column, gradient, decay);
    if (biases_) {
      const float bias_decay = steps.learning_rate * steps.l2_biases;
      row[rank_] += gradient - bias_decay * row[rank_];
      column[rank_] += gradient - bias_decay * column[rank_];
    }
    return error;
  }

  // Writes the gradients for a cell of this value, without learning rate and scale. All have length()
  // elements; the gradients must not overlap anything. Returns the error.
  float gradients(const float* row, const float* column, float* row_gradient, float* column_gradient,
                  float value, const SgdSteps& steps) const {
    const float error = value - predict(row, column);
    regularized_products(row, column, row_gradient, column_gradient, error, steps.l2_factors);
    if (biases_) {
      row_gradient[rank_] = steps.l2_biases * row[rank_] - error;
      column_gradient[rank_] = steps.l2_biases * column[rank_] - error;
    }
    return error;
  }

 private:
  // Compilers must not reorder sums of floats; these independent sums fit into vector registers.
  static float dot(const float* __restrict left, const float* __restrict right, std::size_t count) {
    constexpr std::size_t kLanes = 16;
    std::array<float, kLanes> sums{};
    std::size_t k = 0;
    for (; k + kLanes <= count; k += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += left[k + lane] * right[k + lane];
    }
    for (std::size_t lane = 0; k < count; ++k, ++lane) sums[lane] += left[k] * right[k];
    for (std::size_t half = kLanes / 2; half != 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    return sums[0];
  }

  void update_factors(const float* __restrict row, float* __restrict column, float* __restrict row_change,
                      float gradient, float decay) const {
    for (std::size_t k = 0; k < rank_; ++k) {
      const float p = row[k];
      const float q = column[k];
      row_change[k] = gradient * q - decay * p;
      column[k] = q + (gradient * p - decay * q);
    }
  }

  void update_factors(float* __restrict row, float* __restrict column, float gradient, float decay) const {
    for (std::size_t k = 0; k < rank_; ++k) {
      const float p = row[k];
      const float q = column[k];
      row[k] = p + (gradient * q - decay * p);
      column[k] = q + (gradient * p - decay * q);
    }
  }

  void regularized_products(const float* __restrict row, const float* __restrict column,
                            float* __restrict row_gradient, float* __restrict column_gradient, float error,
                            float l2) const {
    for (std::size_t k = 0; k < rank_; ++k) {
      row_gradient[k] = l2 * row[k] - error * column[k];
      column_gradient[k] = l2 * column[k] - error * row[k];
    }
  }

  std::size_t rank_;
  bool biases_;
  float mean_;
};

}  // namespace lapse::apps

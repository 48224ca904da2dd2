#include "apps/report/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lapse/core/random.hpp"

namespace lapse::apps {

namespace {

using EigenVectors = std::vector<std::vector<double>>;

constexpr std::size_t kMoreVectors = 6;  // of the subspace than are asked for: they make it converge
constexpr int kMaxIterations = 2000;
constexpr int kMaxSweeps = 60;
constexpr double kConverged = 1e-13;  // change of the values, by the largest one
constexpr double kVanished = 1e-14;   // length of what is left of a vector that depends on others

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> product(const SymmetricMatrix& matrix, const std::vector<double>& vector) {
  std::vector<double> result(matrix.size);
  for (std::size_t row = 0; row < matrix.size; ++row) {
    const auto begin = matrix.values.begin() + static_cast<std::ptrdiff_t>(row * matrix.size);
    result[row] = std::inner_product(vector.begin(), vector.end(), begin, 0.0);
  }
  return result;
}

// Gram-Schmidt, twice. A vector that depends on those before becomes 0.
void make_orthonormal(EigenVectors& vectors) {
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const double before = std::sqrt(product(vectors[i], vectors[i]));
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double along = product(vectors[i], vectors[j]);
        for (std::size_t k = 0; k < vectors[i].size(); ++k) vectors[i][k] -= along * vectors[j][k];
      }
    }
    const double length = std::sqrt(product(vectors[i], vectors[i]));
    const double factor = length > kVanished * before ? 1 / length : 0;
    for (double& value : vectors[i]) value *= factor;
  }
}

// Makes matrix(p, q) zero.
void rotate(SymmetricMatrix& matrix, EigenVectors& vectors, std::size_t p, std::size_t q) {
  const double off = matrix.at(p, q);
  if (off == 0) return;
  const double theta = (matrix.at(q, q) - matrix.at(p, p)) / (2 * off);
  const double tangent = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1));
  const double cosine = 1 / std::hypot(tangent, 1);
  const double sine = tangent * cosine;
  const auto turn = [&](double& a, double& b) {
    const double first = a;
    a = cosine * first - sine * b;
    b = sine * first + cosine * b;
  };
  for (std::size_t k = 0; k < matrix.size; ++k) turn(matrix.at(k, p), matrix.at(k, q));
  for (std::size_t k = 0; k < matrix.size; ++k) turn(matrix.at(p, k), matrix.at(q, k));
  for (std::size_t k = 0; k < matrix.size; ++k) turn(vectors[p][k], vectors[q][k]);
  matrix.at(p, q) = matrix.at(q, p) = 0;
}

double largest_outside_diagonal(const SymmetricMatrix& matrix) {
  double largest = 0;
  for (std::size_t row = 0; row < matrix.size; ++row)
    for (std::size_t column = 0; column < row; ++column)
      largest = std::max(largest, std::abs(matrix.at(row, column)));
  return largest;
}

// Of the subspace of orthonormal vectors: the approximations of the matrix's pairs (Rayleigh-Ritz).
EigenPairs pairs_within(const SymmetricMatrix& matrix, const EigenVectors& basis) {
  SymmetricMatrix projected{basis.size(), std::vector<double>(basis.size() * basis.size())};
  for (std::size_t i = 0; i < basis.size(); ++i) {
    const std::vector<double> image = product(matrix, basis[i]);
    for (std::size_t j = 0; j <= i; ++j) projected.at(i, j) = projected.at(j, i) = product(image, basis[j]);
  }
  EigenPairs pairs = all_eigen_pairs(std::move(projected));
  for (std::vector<double>& vector : pairs.vectors) {
    std::vector<double> whole(matrix.size);
    for (std::size_t i = 0; i < basis.size(); ++i)
      for (std::size_t k = 0; k < matrix.size; ++k) whole[k] += vector[i] * basis[i][k];
    vector = std::move(whole);
  }
  return pairs;
}

}  // namespace

EigenPairs all_eigen_pairs(SymmetricMatrix matrix) {
  EigenVectors vectors(matrix.size, std::vector<double>(matrix.size));
  for (std::size_t i = 0; i < matrix.size; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < kMaxSweeps && largest_outside_diagonal(matrix) > 0; ++sweep) {
    for (std::size_t p = 0; p < matrix.size; ++p)
      for (std::size_t q = p + 1; q < matrix.size; ++q) rotate(matrix, vectors, p, q);
  }
  std::vector<std::size_t> order(matrix.size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return matrix.at(a, a) > matrix.at(b, b); });
  EigenPairs pairs;
  for (const std::size_t i : order) {
    pairs.values.push_back(matrix.at(i, i));
    pairs.vectors.push_back(std::move(vectors[i]));
  }
  return pairs;
}

EigenPairs largest_eigen_pairs(const SymmetricMatrix& matrix, std::size_t count) {
  RandomEngine random(1);
  EigenVectors basis(std::min(matrix.size, count + kMoreVectors), std::vector<double>(matrix.size));
  for (std::vector<double>& vector : basis)
    for (double& value : vector) value = random.uniform() - 0.5;
  make_orthonormal(basis);
  count = std::min(count, basis.size());
  EigenPairs pairs = pairs_within(matrix, basis);
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const std::vector<double> before = pairs.values;
    basis = std::move(pairs.vectors);
    for (std::vector<double>& vector : basis) vector = product(matrix, vector);
    make_orthonormal(basis);
    pairs = pairs_within(matrix, basis);
    double change = 0;
    for (std::size_t i = 0; i < count; ++i) change = std::max(change, std::abs(pairs.values[i] - before[i]));
    if (change <= kConverged * pairs.values[0]) break;
  }
  pairs.values.resize(count);
  pairs.vectors.resize(count);
  return pairs;
}

}  // namespace lapse::apps

// Eigenvectors of a symmetric matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace lapse::apps {

// A square matrix of doubles, row by row.
struct SymmetricMatrix {
  std::size_t size;
  std::vector<double> values;

  double& at(std::size_t row, std::size_t column) { return values[row * size + column]; }
  double at(std::size_t row, std::size_t column) const { return values[row * size + column]; }
};

struct EigenPairs {
  std::vector<double> values;                // in descending order
  std::vector<std::vector<double>> vectors;  // of length 1
};

// The `count` pairs with the largest values, at least one; all of them if there are fewer. By LAPACK
// (dsyevr), which OpenBLAS contains. All numbers must be finite. Throws UsageError if it fails.
EigenPairs largest_eigen_pairs(SymmetricMatrix matrix, std::size_t count);

}  // namespace lapse::apps

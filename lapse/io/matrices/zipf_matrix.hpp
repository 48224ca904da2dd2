// Synthetic matrices with the skew of real ones.
#pragma once

#include <cstdint>

#include "lapse/core/export.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"

namespace lapse::io {

struct ZipfMatrixOptions {
  std::uint32_t rows = 10000;
  std::uint32_t columns = 1000;
  std::uint64_t cells = 1000000;
  double exponent = 1.1;   // of the Zipf distribution of rows, and of columns
  std::uint32_t rank = 8;  // of the matrix that the values approximate
  double noise = 0.1;      // standard deviation of the noise; that of the values is 1
  std::uint64_t seed = 1;
};

// Samples cells whose rows and columns are independently Zipf distributed, with the frequencies assigned to
// the ids by a random permutation (as in the synthetic data sets of the matrix factorization experiments of
// Renz-Wieland et al., VLDB'20). Values are those of a random low-rank matrix plus normal noise. A cell that
// is sampled twice occurs twice. Equal options give the same matrix on every platform. Throws UsageError if
// there are no rows, no columns or the rank is 0, or if the exponent is not positive.
LAPSE_EXPORT CoordinateMatrix make_zipf_matrix(const ZipfMatrixOptions& options);

}  // namespace lapse::io

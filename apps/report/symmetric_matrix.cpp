#include "apps/report/symmetric_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"

// LAPACK has no header of its own in OpenBLAS.
extern "C" void dsyevr_(const char* job, const char* range, const char* part, const int* size, double* matrix,
                        const int* leading, const double* low, const double* high, const int* first,
                        const int* last, const double* tolerance, int* found, double* values, double* vectors,
                        const int* leading_of_vectors, int* support, double* work, const int* work_size,
                        int* integers, const int* integers_size, int* info, std::size_t job_length,
                        std::size_t range_length, std::size_t part_length);

namespace lapse::apps {

EigenPairs largest_eigen_pairs(SymmetricMatrix matrix, std::size_t count) {
  const int size = static_cast<int>(matrix.size);
  const int last = size;
  const int first = size - static_cast<int>(std::min(count, matrix.size)) + 1;  // of the ascending values
  const double unused = 0;
  const double tolerance = 0;  // as exact as possible
  int found = 0;
  int info = 0;
  std::vector<double> values(matrix.size);
  std::vector<double> vectors(matrix.size * static_cast<std::size_t>(last - first + 1));
  std::vector<int> support(2 * matrix.size);
  const auto solve = [&](double* work, int work_size, int* integers, int integers_size) {
    dsyevr_("V", "I", "U", &size, matrix.values.data(), &size, &unused, &unused, &first, &last, &tolerance,
            &found, values.data(), vectors.data(), &size, support.data(), work, &work_size, integers,
            &integers_size, &info, 1, 1, 1);
  };
  double wanted_work = 0;
  int wanted_integers = 0;
  solve(&wanted_work, -1, &wanted_integers, -1);
  std::vector<double> work(static_cast<std::size_t>(wanted_work));
  std::vector<int> integers(static_cast<std::size_t>(wanted_integers));
  solve(work.data(), static_cast<int>(work.size()), integers.data(), static_cast<int>(integers.size()));
  if (info != 0) throw UsageError(fmt::format("no eigenvectors of the matrix (LAPACK: {})", info));
  EigenPairs pairs;
  for (auto pair = static_cast<std::size_t>(found); pair-- > 0;) {
    const auto begin = vectors.begin() + static_cast<std::ptrdiff_t>(pair * matrix.size);
    pairs.values.push_back(values[pair]);
    pairs.vectors.emplace_back(begin, begin + size);
  }
  return pairs;
}

}  // namespace lapse::apps

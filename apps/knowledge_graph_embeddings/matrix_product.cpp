#include "apps/knowledge_graph_embeddings/matrix_product.hpp"

#include <cblas.h>

#include <limits>

#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

blasint blas_size(std::size_t size) {
  if (size > static_cast<std::size_t>(std::numeric_limits<blasint>::max()))
    throw ConfigurationError("a matrix with more than 2147483647 rows or columns");
  return static_cast<blasint>(size);
}

// A leading dimension, which BLAS requires to be positive even without columns.
blasint leading(std::size_t columns) {
  return blas_size(columns == 0 ? 1 : columns);
}

// Limits a threaded BLAS to one thread: each worker is a thread already.
void use_one_thread() {
  static const bool done = (openblas_set_num_threads(1), true);
  static_cast<void>(done);
}

}  // namespace

void multiply_transposed(const float* a, const float* b, float* c, std::size_t rows, std::size_t columns,
                         std::size_t inner) {
  use_one_thread();
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_size(rows), blas_size(columns), blas_size(inner),
              1.0F, a, leading(inner), b, leading(inner), 0.0F, c, leading(columns));
}

void add_matrix_product(const float* a, const float* b, float* c, std::size_t rows, std::size_t columns,
                        std::size_t inner) {
  use_one_thread();
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_size(rows), blas_size(columns),
              blas_size(inner), 1.0F, a, leading(inner), b, leading(columns), 1.0F, c, leading(columns));
}

void add_transposed_product(const float* a, const float* b, float* c, std::size_t rows, std::size_t columns,
                            std::size_t inner) {
  use_one_thread();
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, blas_size(rows), blas_size(columns), blas_size(inner),
              1.0F, a, leading(rows), b, leading(columns), 1.0F, c, leading(columns));
}

}  // namespace lapse::apps

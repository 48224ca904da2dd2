// Products of float matrices, by BLAS.
#pragma once

#include <cstddef>

namespace lapse::apps {

// Matrices are stored row by row without gaps. The output must not overlap an input. Every call uses only the
// calling thread; any number of threads may call.

// c = a b^T, for a of rows x inner, b of columns x inner, c of rows x columns.
void multiply_transposed(const float* a, const float* b, float* c, std::size_t rows, std::size_t columns,
                         std::size_t inner);
// c += a b, for a of rows x inner, b of inner x columns, c of rows x columns.
void add_matrix_product(const float* a, const float* b, float* c, std::size_t rows, std::size_t columns,
                        std::size_t inner);
// c += a^T b, for a of inner x rows, b of inner x columns, c of rows x columns.
void add_transposed_product(const float* a, const float* b, float* c, std::size_t rows, std::size_t columns,
                            std::size_t inner);

}  // namespace lapse::apps

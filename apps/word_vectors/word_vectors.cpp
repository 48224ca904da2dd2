#include "apps/word_vectors/word_vectors.hpp"

#include <cmath>
#include <span>

namespace lapse::apps {

std::vector<float> normalized_rows(const WordVectors& vectors) {
  std::vector<float> rows = vectors.values;
  for (std::size_t begin = 0; begin < rows.size(); begin += vectors.dimensions) {
    const auto row = std::span(rows).subspan(begin, vectors.dimensions);
    double squares = 0;
    for (const float element : row) squares += static_cast<double>(element) * element;
    if (squares == 0) continue;
    const double factor = 1 / std::sqrt(squares);  // may be too large for a float
    for (float& element : row) element = static_cast<float>(element * factor);
  }
  return rows;
}

}  // namespace lapse::apps

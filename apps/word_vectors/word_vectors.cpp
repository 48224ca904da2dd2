#include "apps/word_vectors/word_vectors.hpp"

#include <cmath>

namespace lapse::apps {

std::vector<float> normalized_rows(const WordVectors& vectors) {
  std::vector<float> rows = vectors.values;
  for (std::size_t begin = 0; begin < rows.size(); begin += vectors.dimensions) {
    const auto row = std::span(rows).subspan(begin, vectors.dimensions);
    double squares = 0;
    for (const float element : row) squares += static_cast<double>(element) * element;
    if (squares == 0) continue;
    const auto factor = static_cast<float>(1 / std::sqrt(squares));
    for (float& element : row) element *= factor;
  }
  return rows;
}

}  // namespace lapse::apps

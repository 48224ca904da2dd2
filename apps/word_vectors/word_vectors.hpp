// Vectors of words.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/vocabulary.hpp"

namespace lapse::apps {

// A row of `dimensions` elements for each word of the vocabulary.
struct WordVectors {
  std::span<const float> row(io::Vocabulary::Id word) const {
    return std::span(values).subspan(word * dimensions, dimensions);
  }

  io::Vocabulary words;
  std::size_t dimensions = 0;
  std::vector<float> values;
};

// The rows, each divided by its Euclidean length, so that a product is a cosine. Rows of zeros stay.
std::vector<float> normalized_rows(const WordVectors& vectors);

}  // namespace lapse::apps

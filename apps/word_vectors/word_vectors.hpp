// Word vectors.
#pragma once

#include <cstddef>
#include <vector>

#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::apps {

// A row of `dimensions` elements for each word of the vocabulary.
struct WordVectors {
  io::Vocabulary words;
  std::size_t dimensions = 0;
  std::vector<float> values;
};

// The rows, each divided by its Euclidean length, so that a dot product is a cosine. Rows of zeros are
// unchanged.
std::vector<float> normalized_rows(const WordVectors& vectors);

}  // namespace lapse::apps

// The similarity of words as a test of word vectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/word_vectors/word_vectors.hpp"
#include "lapse/io/files/input.hpp"

namespace lapse::apps {

// Two words, and how similar people find them.
struct WordPair {
  io::Vocabulary::Id first;
  io::Vocabulary::Id second;
  double score;
};

struct WordPairs {
  std::vector<WordPair> known;
  std::uint64_t unknown = 0;  // pairs with a word that the vocabulary lacks
};

// Reads `word word score`, one pair a line, separated by tabs, commas or blanks: the first line decides.
// Words become lower-case (ASCII). Lines that begin with # are remarks; a first line without a score is a
// header. Throws FileError for another number of fields, for a score that is no number, and for a file
// without pairs.
WordPairs read_word_pairs(const io::Input& input, const io::Vocabulary& words);

// Spearman's correlation: Pearson's of the ranks, where equal numbers have the mean of their ranks. Not a
// number for fewer than two numbers, or when all of a list are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

// The rank correlation of scores and cosines. `rows`: normalized_rows.
double similarity_correlation(std::span<const WordPair> pairs, std::span<const float> rows,
                              std::size_t dimensions);

}  // namespace lapse::apps

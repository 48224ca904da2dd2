// The similarity of words as a test of word vectors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/word_vectors/word_vectors.hpp"
#include "lapse/io/files/input.hpp"

namespace lapse::apps {

// Two words, and their similarity as rated by people.
struct WordPair {
  io::Vocabulary::Id first;
  io::Vocabulary::Id second;
  double score;
};

struct WordPairs {
  std::vector<WordPair> known;
  std::uint64_t unknown = 0;  // pairs with an unknown word
};

// Reads `word word score`, one pair a line, separated by tabs, commas or blanks: the first line decides.
// Converts words to lower case (ASCII). Lines that begin with # are comments; a first line without a score is
// a header. Throws FileError for another number of fields, an invalid score, and a file without pairs.
WordPairs read_word_pairs(const io::Input& input, const io::Vocabulary& words);

// Spearman's correlation: Pearson's correlation of the ranks, where equal numbers have their mean rank. NaN
// for fewer than two numbers, or if all numbers of a list are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

// The rank correlation of scores and cosines. `rows`: normalized_rows.
double similarity_correlation(std::span<const WordPair> pairs, std::span<const float> rows,
                              std::size_t dimensions);

}  // namespace lapse::apps

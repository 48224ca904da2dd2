// The vectors in the parameter manager.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "apps/word_vectors/corpus.hpp"
#include "apps/word_vectors/subsampling.hpp"

namespace lapse::apps {

enum class Optimiser : std::uint8_t {
  sgd,      // workers make the steps on copies and push the differences
  adagrad,  // workers push gradients
};

struct VectorTables {
  std::array<TableId, 2> ids() const { return {inputs.id(), outputs.id()}; }

  Table<float> inputs;   // of words as contexts: the result
  Table<float> outputs;  // of words as targets
};

struct VectorTableOptions {
  std::string name = "vectors";  // beginning of the tables' names; empty: tables without given names
  std::size_t dimensions = 100;
  Optimiser optimiser = Optimiser::sgd;
  double rate = 0.05;  // of Adagrad
  std::uint64_t seed = 1;
  bool deterministic = false;  // no copies of keys, which show updates later
};

// Collective. Creates the tables, whose keys are the words' ids. As in word2vec, inputs start uniformly
// distributed in [-0.5, 0.5) / dimensions, and outputs with zeros.
VectorTables create_vector_tables(adapm::ParameterManager& manager, const Corpus& corpus,
                                  const VectorTableOptions& options);

// The distribution of negatives: by the words' counts to the power of the exponent (0.75: Mikolov et al.
// 2013).
adapm::Distribution::Shared noise_distribution(const Corpus& corpus, double exponent);

// Collective. How often each key will be accessed, for the technique nups: with so many negatives for each
// word, of this distribution.
void set_frequencies(adapm::ParameterManager& manager, const VectorTables& tables, const Corpus& corpus,
                     const Subsampling& subsampling, const adapm::Distribution& noise, double negatives);

}  // namespace lapse::apps

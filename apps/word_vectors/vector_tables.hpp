// The tables of word vectors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "apps/common/corpus.hpp"
#include "apps/word_vectors/subsampling.hpp"
#include "lapse/consistency/consistency.hpp"

namespace lapse::apps {

enum class Optimiser : std::uint8_t {
  sgd,      // workers make steps on copies and push the differences
  adagrad,  // workers push gradients
};

struct VectorTables {
  std::array<TableId, 2> ids() const { return {inputs.id(), outputs.id()}; }

  Table<float> inputs;   // of words as contexts: the result
  Table<float> outputs;  // of words as targets
};

struct VectorTableOptions {
  std::string name = "vectors";  // prefix of the tables' names; empty: unnamed tables
  std::size_t dimensions = 100;
  Optimiser optimiser = Optimiser::sgd;
  double rate = 0.05;  // of Adagrad
  std::uint64_t seed = 1;
  std::optional<Consistency> consistency;  // empty: that of the technique
};

// Collective. Creates the tables, whose keys are the words' ids. Like in word2vec, inputs are initially
// uniform in [-0.5, 0.5) / dimensions, and outputs 0.
VectorTables create_vector_tables(adapm::ParameterManager& manager, const Corpus& corpus,
                                  const VectorTableOptions& options);

// The distribution of negatives: proportional to the words' counts to the power of the exponent (0.75:
// Mikolov et al. 2013).
adapm::Distribution::Shared noise_distribution(const Corpus& corpus, double exponent);

// Collective. Sets how often each key will be accessed, for the technique nups, with this many negatives for
// each word, from this distribution.
void set_frequencies(adapm::ParameterManager& manager, const VectorTables& tables, const Corpus& corpus,
                     const Subsampling& subsampling, const adapm::Distribution& noise, double negatives);

}  // namespace lapse::apps

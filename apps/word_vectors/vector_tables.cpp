#include "apps/word_vectors/vector_tables.hpp"

#include <vector>

namespace lapse::apps {

VectorTables create_vector_tables(adapm::ParameterManager& manager, const Corpus& corpus,
                                  const VectorTableOptions& options) {
  const auto create = [&](const char* suffix, const Initialiser& initialiser) {
    const Adagrad adagrad{.learning_rate = options.rate};
    return manager.create_table<float>({.name = options.name.empty() ? "" : options.name + suffix,
                                        .keys = corpus.words.size(),
                                        .length = options.dimensions,
                                        .initialiser = initialiser,
                                        .seed = options.seed,
                                        .update_rule = options.optimiser == Optimiser::sgd
                                                           ? UpdateRule::add()
                                                           : UpdateRule::adagrad(adagrad),
                                        .consistency = options.consistency});
  };
  const double bound = 0.5 / static_cast<double>(options.dimensions);
  const Table<float> inputs = create("-inputs", Initialiser::uniform(-bound, bound));
  return {inputs, create("-outputs", Initialiser::zero())};
}

adapm::Distribution::Shared noise_distribution(const Corpus& corpus, double exponent) {
  std::vector<std::uint64_t> counts(corpus.words.size());
  for (WordId word = 0; word < counts.size(); ++word) counts[word] = corpus.words.count(word);
  return adapm::Distribution::by_frequency(counts, exponent);
}

void set_frequencies(adapm::ParameterManager& manager, const VectorTables& tables, const Corpus& corpus,
                     const Subsampling& subsampling, const adapm::Distribution& noise, double negatives) {
  std::vector<double> kept(corpus.words.size());
  double sum = 0;
  for (WordId word = 0; word < kept.size(); ++word) {
    kept[word] = static_cast<double>(corpus.words.count(word)) * subsampling.probability(word);
    sum += kept[word];
  }
  std::vector<std::uint64_t> inputs(kept.begin(), kept.end());
  for (const auto& [key, probability] : noise.probabilities())
    kept[key.index()] += negatives * sum * probability;
  const std::vector<std::uint64_t> outputs(kept.begin(), kept.end());
  manager.set_frequencies(tables.inputs, inputs);
  manager.set_frequencies(tables.outputs, outputs);
}

}  // namespace lapse::apps

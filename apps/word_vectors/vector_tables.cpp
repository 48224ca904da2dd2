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
                                                           : UpdateRule::adagrad(adagrad)});
  };
  const double bound = 0.5 / static_cast<double>(options.dimensions);
  const Table<float> inputs = create("-inputs", Initialiser::uniform(-bound, bound));
  return {inputs, create("-outputs", Initialiser::zero())};
}

void set_frequencies(adapm::ParameterManager& manager, const VectorTables& tables, const Corpus& corpus,
                     const Subsampling& subsampling, const NoiseWords& noise, std::size_t negatives) {
  std::vector<double> kept(corpus.words.size());
  double sum = 0;
  for (WordId word = 0; word < kept.size(); ++word) {
    kept[word] = static_cast<double>(corpus.words.count(word)) * subsampling.probability(word);
    sum += kept[word];
  }
  std::vector<std::uint64_t> inputs;
  std::vector<std::uint64_t> outputs;
  for (WordId word = 0; word < kept.size(); ++word) {
    const double drawn = static_cast<double>(negatives) * sum * noise.probability(word);
    inputs.push_back(static_cast<std::uint64_t>(kept[word]));
    outputs.push_back(static_cast<std::uint64_t>(kept[word] + drawn));
  }
  manager.set_frequencies(tables.inputs, inputs);
  manager.set_frequencies(tables.outputs, outputs);
}

}  // namespace lapse::apps

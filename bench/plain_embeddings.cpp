#include "bench/plain_embeddings.hpp"

#include <algorithm>

#include "lapse/io/loading/shuffle.hpp"
#include "lapse/store/values/initialiser.hpp"

namespace lapse::bench {

PlainEmbeddings::Rows::Rows(std::uint64_t keys, std::size_t length, const apps::TrainingOptions& options,
                            std::uint64_t seed)
    : length_(length),
      rule_(options.optimiser.update_rule(), ElementType::float32),
      values_(2 * keys * length),
      slots_(keys) {
  const Initialiser initialiser = Initialiser::normal(0, options.initial_scale);
  for (std::uint64_t key = 0; key < keys; ++key) {
    auto* const bytes = reinterpret_cast<std::byte*>(value(Key(key)));
    initialiser.fill(seed, Key(key), ElementType::float32, length, bytes);
    rule_.initialise(bytes, length);
  }
}

void PlainEmbeddings::Rows::start_batch() {
  keys_.clear();
  slots_.start_batch();
}

void PlainEmbeddings::Rows::apply_gradients() {
  const float* gradient = gradients_.data();
  for (const Key key : keys_) {
    rule_.apply(reinterpret_cast<std::byte*>(value(key)), reinterpret_cast<const std::byte*>(gradient),
                length_);
    gradient += length_;
  }
}

PlainEmbeddings::PlainEmbeddings(const apps::KnowledgeGraph& graph, const apps::EmbeddingModel& model,
                                 const apps::TrainingOptions& options)
    : graph_(graph),
      options_(options.runner),
      loss_(model, options.runner.loss),
      entities_(graph.entities, model.entity_length(), options, 2 * options.seed),
      relations_(graph.relations, model.relation_length(), options, 2 * options.seed + 1),
      triples_(graph.train),
      others_(2 * options.runner.negatives.per_side) {
  options_.seed = options.seed;
}

double PlainEmbeddings::run_epoch() {
  const std::uint64_t stream = 2 * epochs_++;
  RandomEngine order(options_.seed, stream);
  io::shuffle(std::span(triples_), order);
  double loss = 0;
  std::uint64_t batch = 0;
  for (std::span<const apps::Triple> left = triples_; !left.empty();) {
    const std::size_t size = std::min(options_.batch, left.size());
    // Like the application, which may continue with any batch.
    RandomEngine random(options_.seed + kGoldenGamma * batch++, stream + 1);
    loss += train(left.first(size), random);
    left = left.subspan(size);
  }
  return loss / static_cast<double>(triples_.size());
}

double PlainEmbeddings::train(std::span<const apps::Triple> batch, RandomEngine& random) {
  entities_.start_batch();
  relations_.start_batch();
  slots_.clear();
  for (const apps::Triple& triple : batch) {
    slots_.push_back(entities_.slot(triple.subject));
    slots_.push_back(relations_.slot(triple.relation));
    slots_.push_back(entities_.slot(triple.object));
    for (std::size_t i = 0; i < others_.size(); ++i)
      slots_.push_back(entities_.slot(random.below(graph_.entities)));
  }
  entities_.zero_gradients();
  relations_.zero_gradients();
  const std::size_t per_side = others_.size() / 2;
  double loss = 0;
  for (const std::uint32_t* slot = slots_.data(); slot != slots_.data() + slots_.size();) {
    const apps::EmbeddingRow subject = entities_.row(*slot++);
    const apps::EmbeddingRow relation = relations_.row(*slot++);
    const apps::EmbeddingRow object = entities_.row(*slot++);
    for (apps::EmbeddingRow& other : others_) other = entities_.row(*slot++);
    const std::span<const apps::EmbeddingRow> others(others_);
    loss += loss_.add_gradients({subject, relation, object, others.first(per_side), others.last(per_side)});
  }
  entities_.apply_gradients();
  relations_.apply_gradients();
  return loss;
}

}  // namespace lapse::bench

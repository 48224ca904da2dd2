#include "apps/knowledge_graph_embeddings/query_maker.hpp"

#include <algorithm>

namespace lapse::apps {

namespace {

void add_products(const std::vector<float>& a, const std::vector<float>& b, float* sum) {
  for (std::size_t k = 0; k < a.size(); ++k) sum[k] += a[k] * b[k];
}

}  // namespace

QueryMaker::Mask::Mask(double share, std::size_t length)
    : threshold(static_cast<std::uint64_t>(share * 0x1p64)),
      kept(static_cast<float>(1 / (1 - share))),
      factors(length),
      value(length),
      gradient(length) {}

void QueryMaker::Mask::apply(RandomEngine& random, const float* source) {
  for (std::size_t k = 0; k < value.size(); ++k) {
    factors[k] = random() < threshold ? 0 : kept;
    value[k] = factors[k] * source[k];
  }
}

QueryMaker::QueryMaker(const EmbeddingModel& model, const DropoutOptions& options)
    : model_(model),
      drops_(options.entity != 0 || options.relation != 0),
      entity_(options.entity, drops_ ? model.entity_length() : 0),
      relation_(options.relation, drops_ ? model.relation_length() : 0) {}

void QueryMaker::drop(RandomEngine& random, const EmbeddingRow& known, const EmbeddingRow& relation) {
  entity_.apply(random, known.value);
  relation_.apply(random, relation.value);
}

RandomEngine QueryMaker::make(Side missing, const EmbeddingRow& known, const EmbeddingRow& relation,
                              std::span<float> query) {
  const RandomEngine before = random_;
  if (drops_) {
    drop(random_, known, relation);
    model_.query(missing, entity_.value, relation_.value, query);
  } else {
    model_.query(missing, known.values(model_.entity_length()), relation.values(model_.relation_length()),
                 query);
  }
  return before;
}

void QueryMaker::add_gradient(RandomEngine dropped, Side missing, const EmbeddingRow& known,
                              const EmbeddingRow& relation, std::span<const float> query_gradient) {
  if (!drops_) {
    model_.add_query_gradient(missing, known.values(model_.entity_length()),
                              relation.values(model_.relation_length()), query_gradient,
                              known.gradients(model_.entity_length()),
                              relation.gradients(model_.relation_length()));
    return;
  }
  drop(dropped, known, relation);
  std::fill(entity_.gradient.begin(), entity_.gradient.end(), 0.0F);
  std::fill(relation_.gradient.begin(), relation_.gradient.end(), 0.0F);
  model_.add_query_gradient(missing, entity_.value, relation_.value, query_gradient, entity_.gradient,
                            relation_.gradient);
  add_products(entity_.factors, entity_.gradient, known.gradient);
  add_products(relation_.factors, relation_.gradient, relation.gradient);
}

}  // namespace lapse::apps

// Queries of embeddings, with dropout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_row.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// Shares of numbers in a query that are set to 0, from 0 to below 1. The others are divided by the remaining
// share, so that nothing needs scaling when the embeddings are used (inverted dropout: Srivastava et al.,
// JMLR 15 (2014)). Candidates are unchanged.
struct DropoutOptions {
  double entity = 0;
  double relation = 0;
};

// Computes queries of a model and propagates their gradients back. Belongs to one worker.
class QueryMaker {
 public:
  QueryMaker(const EmbeddingModel& model, const DropoutOptions& options);

  // Dropped numbers depend on seed, stream and the order of the queries.
  void seed(std::uint64_t seed, std::uint64_t stream) { random_ = RandomEngine(seed, stream); }

  // Computes a query. Returns the random engine for add_gradient, to repeat the same dropout.
  RandomEngine make(Side missing, const EmbeddingRow& known, const EmbeddingRow& relation,
                    std::span<float> query);
  // Adds the gradients of the embeddings, given the gradient of that query.
  void add_gradient(RandomEngine dropped, Side missing, const EmbeddingRow& known,
                    const EmbeddingRow& relation, std::span<const float> query_gradient);

 private:
  // Draws a factor for each number of an embedding: 0 or 1 / (1 - share). Sets value to the products.
  class Mask {
   public:
    Mask(double share, std::size_t length);
    void apply(RandomEngine& random, const float* value);

    std::uint64_t threshold;  // a number stays if its random number is above this
    float kept;
    std::vector<float> factors;
    std::vector<float> value;
    std::vector<float> gradient;
  };
  void drop(RandomEngine& random, const EmbeddingRow& known, const EmbeddingRow& relation);

  const EmbeddingModel& model_;
  bool drops_;
  Mask entity_;
  Mask relation_;
  RandomEngine random_{0};
};

}  // namespace lapse::apps

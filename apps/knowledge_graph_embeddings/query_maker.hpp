// Queries of embeddings, with dropout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_row.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// Shares of numbers that are set to 0 in a query, from 0 to below 1; the others are divided by the share that
// is left, so that nothing is to be scaled when the embeddings are used (inverted dropout: Srivastava et al.,
// JMLR 15 (2014)). Candidates are never touched.
struct DropoutOptions {
  double entity = 0;
  double relation = 0;
};

// Makes the queries of a model and passes their gradients back. Belongs to one worker.
class QueryMaker {
 public:
  QueryMaker(const EmbeddingModel& model, const DropoutOptions& options);

  // What is dropped depends on seed and stream, and on the order of the queries.
  void seed(std::uint64_t seed, std::uint64_t stream) { random_ = RandomEngine(seed, stream); }

  // Computes a query. Returns what add_gradient needs to know what was dropped.
  RandomEngine make(Side missing, const EmbeddingRow& known, const EmbeddingRow& relation,
                    std::span<float> query);
  // From the gradient of that query to those of its embeddings.
  void add_gradient(RandomEngine dropped, Side missing, const EmbeddingRow& known,
                    const EmbeddingRow& relation, std::span<const float> query_gradient);

 private:
  // Draws a factor for each number of an embedding: 0 or 1 / (1 - share). Sets value to the products.
  class Mask {
   public:
    Mask(double share, std::size_t length);
    void apply(RandomEngine& random, const float* value);

    std::uint64_t threshold;  // of a random number, above which its number stays
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

// Models of knowledge graph embeddings: they compute the score of a triple.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace lapse::apps {

enum class ModelKind : std::uint8_t { complex, distmult, rescal, transe };
inline constexpr std::array kModelKinds{ModelKind::complex, ModelKind::distmult, ModelKind::rescal,
                                        ModelKind::transe};
// The name in options.
std::string_view to_string(ModelKind kind);

struct ModelOptions {
  ModelKind kind = ModelKind::complex;
  std::size_t dimensions = 50;  // complex numbers for ComplEx, real numbers for the others
  double margin = 4;            // TransE: the score of a triple at distance 0
};

// The missing entity of a triple.
enum class Side : std::uint8_t { subject, object };

// Every model works in two steps. A query is computed from the relation and the known entity of a triple, and
// has the length of an entity; the score compares it with a candidate for the missing entity. So the many
// candidates of a query, in training (negatives) and evaluation (all entities), cost little.
//
// Gradients are those of any function L of the score, by the chain rule, and are added to the output spans.
// Spans have the length entity_length() (entities, queries) or relation_length(). No output span may overlap
// another span. Immutable.
class EmbeddingModel {
 public:
  EmbeddingModel(std::size_t entity_length, std::size_t relation_length)
      : entity_length_(entity_length), relation_length_(relation_length) {}
  virtual ~EmbeddingModel() = default;

  std::size_t entity_length() const { return entity_length_; }
  std::size_t relation_length() const { return relation_length_; }
  // Whether embeddings consist of complex numbers, real parts first.
  virtual bool has_complex_numbers() const { return false; }

  virtual void query(Side missing, std::span<const float> known, std::span<const float> relation,
                     std::span<float> query) const = 0;
  // Computes dL/dknown and dL/drelation from dL/dquery.
  virtual void add_query_gradient(Side missing, std::span<const float> known, std::span<const float> relation,
                                  std::span<const float> query_gradient, std::span<float> known_gradient,
                                  std::span<float> relation_gradient) const = 0;

  virtual float score(std::span<const float> query, std::span<const float> candidate) const = 0;
  // The scores of several candidates, row by row, bit for bit equal to score().
  virtual void scores(std::span<const float> query, std::span<const float> candidates,
                      std::span<float> scores) const = 0;
  // Computes dL/dquery and dL/dcandidate from slope = dL/dscore.
  virtual void add_score_gradient(std::span<const float> query, std::span<const float> candidate, float slope,
                                  std::span<float> query_gradient,
                                  std::span<float> candidate_gradient) const = 0;

  // The scores of every query with every candidate, both row by row: queries x candidates, row by row. They
  // may differ from score() by rounding.
  virtual void score_matrix(std::span<const float> queries, std::span<const float> candidates,
                            std::span<float> scores) const;
  // Computes the gradients of queries and candidates, row by row, from the slopes of all these scores.
  virtual void add_score_matrix_gradients(std::span<const float> queries, std::span<const float> candidates,
                                          std::span<const float> slopes, std::span<float> query_gradients,
                                          std::span<float> candidate_gradients) const;

 private:
  std::size_t entity_length_;
  std::size_t relation_length_;
};

// Requires dimensions >= 1.
std::unique_ptr<const EmbeddingModel> make_model(const ModelOptions& options);

}  // namespace lapse::apps

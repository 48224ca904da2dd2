// Questions to embeddings of a knowledge graph.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/answers/question.hpp"
#include "apps/common/model_description.hpp"
#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"
#include "apps/model_files/named_rows.hpp"
#include "lapse/io/text/table_columns.hpp"

namespace lapse::apps {

// The embeddings that the application has written. Immutable.
class TripleModel {
 public:
  // Throws FileError for files that are missing or do not fit the description.
  explicit TripleModel(const ModelDescription& model);

  const NamedRows& entities() const { return entities_; }
  // Without inverse ones.
  const RowNames& relations() const { return relation_names_; }

  // The score of a triple, as that of its object.
  double score(const Triple& triple) const;
  // The scores of all entities for the missing one of a triple.
  std::vector<double> scores(Side missing, const Triple& triple) const;

 private:
  std::vector<float> query(const TripleQuery& asked) const;
  std::span<const float> relation(std::uint32_t key) const {
    return std::span(relations_).subspan(key * model_->relation_length(), model_->relation_length());
  }

  std::unique_ptr<const EmbeddingModel> model_;
  QueryForm form_;
  NamedRows entities_;
  RowNames relation_names_;
  std::vector<float> relations_;
};

// The embeddings of entities or of relations, as for SimilarQuestion. Throws FileError.
NamedRows read_entities(const ModelDescription& model);
NamedRows read_relations(const ModelDescription& model);

// SUBJECT RELATION OBJECT: the score.
class ScoreQuestion final : public Question {
 public:
  explicit ScoreQuestion(TripleModel model) : model_(std::move(model)) {}

  std::string_view fields() const override { return "SUBJECT RELATION OBJECT"; }
  bool is_number() const override { return true; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  TripleModel model_;
};

// Two parts of a triple: the best candidates for the third, without those that make a triple of the files
// `known` (filtered, as in rankings).
class MissingPartQuestion final : public Question {
 public:
  enum class Asked : std::uint8_t { subject, relation, object };

  // `format`: of these files. Triples of them with names that the model lacks are ignored. Throws what
  // TripleReader throws, and FileError for a file of which the model has no triple's names.
  MissingPartQuestion(TripleModel model, Asked asked, std::size_t count,
                      const std::vector<std::string>& known, const io::TableFormat& format);

  std::string_view fields() const override;
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  // A triple, with what the query gives in front.
  struct KnownTriple {
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t answer;
    auto operator<=>(const KnownTriple&) const = default;
  };

  void read_known(const std::string& file, const io::TableFormat& format);
  KnownTriple known_triple(const Triple& triple) const;
  std::vector<std::uint32_t> known_answers(const Triple& triple) const;
  std::vector<double> scores(const Triple& triple) const;

  TripleModel model_;
  Asked asked_;
  std::size_t count_;
  std::vector<KnownTriple> known_;  // ascending
};

}  // namespace lapse::apps

// How well a topic model predicts documents that it was not trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/topic_model/document_mixture.hpp"
#include "apps/topic_model/topic_tables.hpp"
#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::apps {

// The likelihood of held-out documents by document completion (Wallach, Murray, Salakhutdinov and Mimno,
// Evaluation Methods for Topic Models, ICML 2009): the topics of a document are inferred from one half of its
// tokens, and predict the other half. Halves depend on the seed and the document's number, so they are equal
// at each evaluation and for any number of ranks.
//
// Used by the manager's thread. Errors are thrown on every rank.
class HeldOutDocuments {
 public:
  // Collective. `bag`: the documents of this rank's `workers`, like those of a training (load_documents).
  // Throws ConfigurationError if no document has two tokens.
  HeldOutDocuments(const adapm::ParameterManager& manager, const io::BagOfWords& bag,
                   std::vector<std::int32_t> workers, std::uint64_t seed);

  // Collective. The mean of ln p(w | the other half) of all tokens of the predicted halves.
  double likelihood(adapm::ParameterManager& manager, const TopicTables& tables,
                    const TopicPriors& priors) const;

  std::size_t documents() const { return documents_; }
  // Of the predicted halves.
  std::uint64_t tokens() const { return tokens_; }

 private:
  std::vector<std::int32_t> workers_;
  std::vector<std::vector<HalvedDocument>> halves_;  // by local worker
  std::size_t documents_;
  std::uint64_t tokens_ = 0;
};

}  // namespace lapse::apps

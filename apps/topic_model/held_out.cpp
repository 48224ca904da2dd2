#include "apps/topic_model/held_out.hpp"

#include <array>
#include <numeric>
#include <utility>

#include "apps/common/worker_counts.hpp"
#include "apps/topic_model/document_inference.hpp"
#include "apps/topic_model/worker_documents.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

HeldOutDocuments::HeldOutDocuments(const adapm::ParameterManager& manager, const io::BagOfWords& bag,
                                   std::vector<std::int32_t> workers, std::uint64_t seed)
    : workers_(std::move(workers)), documents_(bag.lengths().size()) {
  for (const std::uint64_t length : bag.lengths()) tokens_ += length / 2;
  if (tokens_ == 0) {
    throw ConfigurationError(
        "no held-out document has two tokens, expected some with one half to infer topics from and one to "
        "predict");
  }
  for (std::size_t local = 0; local < static_cast<std::size_t>(workers_of(workers_, manager.rank()));
       ++local) {
    std::vector<HalvedDocument>& halves = halves_.emplace_back();
    for (const std::size_t document : documents_of_worker(bag, workers_, manager, local))
      halves.push_back(halve(bag.document(document), seed, bag.number(document)));
  }
}

double HeldOutDocuments::likelihood(adapm::ParameterManager& manager, const TopicTables& tables,
                                    const TopicPriors& priors) const {
  std::vector<double> own(halves_.size());
  manager.server().run_workers(static_cast<std::int32_t>(halves_.size()), [&](Worker& worker) {
    const std::vector<HalvedDocument>& halves = halves_[worker.local_index()];
    std::vector<DocumentInference::Document> documents;
    documents.reserve(halves.size());
    for (const HalvedDocument& document : halves) documents.push_back({document.first, document.second});
    DocumentInference(worker, tables, priors)
        .run(documents, [&](std::size_t, std::span<const double>, double likelihood) {
          own[worker.local_index()] += likelihood;
        });
  });
  std::array<double, 1> sum{std::accumulate(own.begin(), own.end(), 0.0)};
  // Ranks without workers take part to receive the sum.
  manager.server().run_workers(1, [&](Worker& worker) { worker.all_reduce(sum); });
  return sum[0] / static_cast<double>(tokens_);
}

}  // namespace lapse::apps

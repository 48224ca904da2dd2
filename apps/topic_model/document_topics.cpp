#include "apps/topic_model/document_topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>

#include "apps/common/manager_program.hpp"
#include "apps/common/worker_counts.hpp"
#include "apps/topic_model/document_inference.hpp"
#include "apps/topic_model/worker_documents.hpp"
#include "lapse/io/files/output_file.hpp"

namespace lapse::apps {

namespace {

constexpr std::uint64_t kMaxShares = std::uint64_t{1} << 20U;  // of the documents that are written together

std::string to_lines(std::span<const double> shares, std::size_t topics, std::uint64_t first) {
  std::string text;
  for (; !shares.empty(); shares = shares.subspan(topics), ++first) {
    fmt::format_to(std::back_inserter(text), "{}", first + 1);
    for (const double share : shares.first(topics))
      fmt::format_to(std::back_inserter(text), "\t{:.6f}", share);
    text += '\n';
  }
  return text;
}

}  // namespace

void write_document_topics(adapm::ParameterManager& manager, const TopicTables& tables,
                           const TopicPriors& priors, const io::BagOfWords& bag,
                           const std::vector<std::int32_t>& workers, const std::string& file) {
  const std::int32_t local_workers = workers_of(workers, manager.rank());
  std::vector<std::vector<std::size_t>> documents;  // by local worker
  for (std::size_t local = 0; local < static_cast<std::size_t>(local_workers); ++local)
    documents.push_back(documents_of_worker(bag, workers, manager, local));
  std::optional<io::OutputFile> output;
  run_on_rank_0(manager.server(), [&](Worker&) { output.emplace(file); });
  const std::uint64_t all = bag.lengths().size();
  const std::size_t topics = priors.topics();
  const std::uint64_t step = std::max<std::uint64_t>(1, kMaxShares / topics);
  std::vector<double> shares;
  for (std::uint64_t first = 0; first < all; first += step) {
    const std::uint64_t last = std::min(first + step, all);
    shares.assign((last - first) * topics, 0);
    manager.server().run_workers(local_workers, [&](Worker& worker) {
      std::vector<std::uint64_t> numbers;
      std::vector<DocumentInference::Document> own;
      for (const std::size_t document : documents[worker.local_index()]) {
        if (bag.number(document) < first || bag.number(document) >= last) continue;
        numbers.push_back(bag.number(document));
        own.push_back({bag.document(document), {}});
      }
      DocumentInference(worker, tables, priors)
          .run(own, [&](std::size_t i, std::span<const double> theta, double) {
            std::ranges::copy(theta,
                              shares.begin() + static_cast<std::ptrdiff_t>((numbers[i] - first) * topics));
          });
    });
    manager.server().run_workers(1, [&](Worker& worker) {
      worker.all_reduce(shares);  // each row has been set by one worker
      if (output) output->write(to_lines(shares, topics, first));
    });
  }
  run_on_rank_0(manager.server(), [&](Worker&) { output->close(); });
}

}  // namespace lapse::apps

#include "apps/topic_model/topic_worker.hpp"

#include <algorithm>
#include <utility>

#include "apps/topic_model/likelihood.hpp"

namespace lapse::apps {

TopicWorker::TopicWorker(const io::BagOfWords& bag, std::span<const std::size_t> documents,
                         const TopicPriors& priors, const TopicWorkerOptions& options)
    : priors_(priors), options_(options), tokens_(bag, documents), sampler_(make_topic_sampler(priors)) {
  for (const io::Vocabulary::Id word : tokens_.words()) keys_.emplace_back(word);
}

std::size_t TopicWorker::batches() const {
  return (keys_.size() + options_.batch - 1) / options_.batch;
}

std::pair<std::size_t, std::size_t> TopicWorker::batch(std::size_t number) const {
  const std::size_t begin = std::min(number * options_.batch, keys_.size());
  return {begin, std::min(begin + options_.batch, keys_.size())};
}

std::span<const Key> TopicWorker::keys_of(std::size_t batch_number) const {
  const auto [begin, end] = batch(batch_number);
  return std::span(keys_).subspan(begin, end - begin);
}

void TopicWorker::draw_first_topics() {
  std::vector<RandomEngine> engines;  // by document
  for (std::size_t document = 0; document < tokens_.documents(); ++document)
    engines.emplace_back(options_.seed, tokens_.number(document));
  for (WordTokens::Token& token : tokens_.all())
    token.topic = static_cast<TopicId>(engines[token.document].below(priors_.topics()));
  sampler_->count_documents(tokens_);
}

void TopicWorker::topics_of_documents(
    const std::function<void(std::uint64_t number, std::span<const TopicId>)>& f) const {
  std::vector<std::vector<TopicId>> topics(tokens_.documents());
  for (const WordTokens::Token& token : tokens_.all()) topics[token.document].push_back(token.topic);
  for (std::size_t document = 0; document < topics.size(); ++document)
    f(tokens_.number(document), topics[document]);
}

void TopicWorker::set_topics(const std::function<void(std::uint64_t number, std::span<TopicId>)>& f) {
  std::vector<std::vector<TopicId>> topics(tokens_.documents());
  for (std::size_t document = 0; document < topics.size(); ++document) {
    topics[document].resize(tokens_.length(document));
    f(tokens_.number(document), topics[document]);
  }
  std::vector<std::size_t> next(topics.size());
  for (WordTokens::Token& token : tokens_.all()) token.topic = topics[token.document][next[token.document]++];
  sampler_->count_documents(tokens_);
}

void TopicWorker::push_counts(Worker& worker, const TopicTables& tables) {
  std::vector<std::int64_t> totals(priors_.topics());
  std::vector<std::int32_t> counts;
  for (std::size_t number = 0; number < batches(); ++number) {
    const auto [begin, end] = batch(number);
    counts.assign((end - begin) * priors_.topics(), 0);
    for (std::size_t word = begin; word < end; ++word) {
      for (const WordTokens::Token& token : tokens_.tokens(word)) {
        ++counts[(word - begin) * priors_.topics() + token.topic];
        ++totals[token.topic];
      }
    }
    worker.push(tables.words, keys_of(number), counts);
  }
  worker.push(tables.totals, TopicTables::kTotals, totals);
}

void TopicWorker::run(adapm::IntentWorker& worker, const TopicTables& tables, std::uint64_t epoch) {
  const std::size_t all = batches();
  if (all == 0) return;
  RandomEngine random(options_.seed + kGoldenGamma * (epoch + 1), worker.index());
  const Clock first = worker.current_clock();
  const auto clock_of = [&](std::size_t number) {
    return Clock(first.value() + static_cast<std::int64_t>(number));
  };
  // Each worker begins with other words, so that few work on the same ones at a time.
  const std::size_t offset = all * worker.index() / worker.count();
  const auto batch_of = [&](std::size_t number) { return (number + offset) % all; };
  const bool announces = worker.ranks() > 1;
  std::size_t announced = 0;
  const auto announce = [&](std::size_t number) {
    for (; announces && announced < std::min(number, all); ++announced) {
      const std::span<const Key> keys = keys_of(batch_of(announced));
      if (options_.localizes) {
        worker.localize(tables.words, keys);
      } else {
        // The counts are pulled in the clock before.
        worker.intent(tables.words, keys, clock_of(std::max<std::size_t>(announced, 1) - 1),
                      clock_of(announced + 1));
      }
    }
  };
  if (announces) worker.intent(tables.totals, std::span(&TopicTables::kTotals, 1), first, clock_of(all));
  announce(options_.lookahead);

  // The counts of a batch are pulled while the batch before is sampled: no word is in both.
  const std::size_t topics = priors_.topics();
  std::vector<std::int32_t> pulled[2];
  Operation pulls[2];
  const auto pull = [&](std::size_t number) {
    if (number == all) return;
    std::vector<std::int32_t>& counts = pulled[number % 2];
    const std::span<const Key> keys = keys_of(batch_of(number));
    counts.resize(keys.size() * topics);
    pulls[number % 2] = worker.pull(tables.words, keys, counts);
  };
  std::vector<std::int32_t> before;
  std::vector<std::int64_t> totals(topics);
  pull(0);
  for (std::size_t number = 0; number < all; ++number) {
    announce(number + 1 + options_.lookahead);
    pull(number + 1);
    pulls[number % 2].wait();
    worker.pull(tables.totals, TopicTables::kTotals, totals).wait();
    sampler_->set_totals(totals);
    std::vector<std::int32_t>& counts = pulled[number % 2];
    before = counts;
    const auto [begin, end] = batch(batch_of(number));
    for (std::size_t word = begin; word < end; ++word) {
      sampler_->resample(tokens_.tokens(word), std::span(counts).subspan((word - begin) * topics, topics),
                         random);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= before[i];
    worker.push(tables.words, keys_of(batch_of(number)), counts);
    worker.push(tables.totals, TopicTables::kTotals, sampler_->total_changes());
    worker.advance_clock();
  }
  worker.wait_all();
}

void TopicWorker::counts_of_documents(const std::function<void(std::span<const std::int32_t>)>& f) const {
  std::vector<std::int32_t> counts(priors_.topics());
  topics_of_documents([&](std::uint64_t, std::span<const TopicId> topics) {
    std::ranges::fill(counts, 0);
    for (const TopicId topic : topics) ++counts[topic];
    f(counts);
  });
}

void TopicWorker::counts_of_words(Worker& worker, const TopicTables& tables,
                                  const std::function<void(std::span<const std::int32_t>)>& f) const {
  std::vector<Key> keys;
  std::vector<std::int32_t> counts;
  constexpr std::size_t kWordsPerPull = 256;
  const auto read = [&] {
    if (keys.empty()) return;
    counts.resize(keys.size() * priors_.topics());
    worker.pull(tables.words, keys, counts).wait();
    f(counts);
    keys.clear();
  };
  for (std::uint64_t word = worker.index(); word < priors_.words; word += worker.count()) {
    keys.emplace_back(word);
    if (keys.size() == kWordsPerPull) read();
  }
  read();
}

void TopicWorker::set_priors(const TopicPriors& priors) {
  priors_ = priors;
  sampler_->set_priors(priors);
}

PriorCounts TopicWorker::prior_counts(Worker& worker, const TopicTables& tables) const {
  PriorCounts counts(priors_.topics());
  counts_of_documents([&](std::span<const std::int32_t> topics) { counts.add_document(topics); });
  counts_of_words(worker, tables, [&](std::span<const std::int32_t> topics) { counts.add_words(topics); });
  if (worker.index() == 0) counts.add_totals(read_totals(worker, tables));
  return counts;
}

double TopicWorker::likelihood(Worker& worker, const TopicTables& tables) const {
  const TopicLikelihood likelihood(priors_);
  double sum = 0;
  counts_of_documents([&](std::span<const std::int32_t> topics) { sum += likelihood.document(topics); });
  counts_of_words(worker, tables,
                  [&](std::span<const std::int32_t> topics) { sum += likelihood.word(topics); });
  if (worker.index() == 0) sum += likelihood.totals(read_totals(worker, tables));
  return sum;
}

}  // namespace lapse::apps

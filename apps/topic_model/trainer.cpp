#include "apps/topic_model/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "apps/common/required_memory.hpp"
#include "apps/common/worker_counts.hpp"
#include "apps/topic_model/prior_optimization.hpp"
#include "apps/topic_model/worker_documents.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

const TopicTrainingOptions& checked(const TopicTrainingOptions& options, std::int32_t ranks) {
  options.check(ranks);
  return options;
}

}  // namespace

TopicPriors TopicTrainingOptions::priors(std::uint64_t words) const {
  return symmetric_priors(topics, alpha.value_or(50 / static_cast<double>(topics)), beta, words);
}

void TopicTrainingOptions::check(std::int32_t ranks) const {
  const auto require = [](bool condition, std::string_view what) {
    if (!condition) throw ConfigurationError(std::string(what));
  };
  check_worker_counts(workers, ranks);
  require(total_workers(workers, ranks) > 0, "no workers on any rank, expected at least 1");
  require(topics >= 1, "0 topics, expected at least 1");
  check_priors({.alpha = {alpha.value_or(1)}, .beta = beta});
  require(worker.batch >= 1, "batch 0, expected at least 1 word");
  require(worker.lookahead >= 1, "lookahead 0, expected at least 1 batch");
}

void check_priors(const TopicPriors& priors) {
  const auto check = [](std::string_view name, double prior) {
    if (!(prior >= 1e-12 && prior <= 1e12))
      throw ConfigurationError(fmt::format("{} is {}, expected 1e-12 to 1e12", name, prior));
  };
  for (const double alpha : priors.alpha) check("alpha", alpha);
  check("beta", priors.beta);
}

TopicTrainer::TopicTrainer(adapm::ParameterManager& manager, io::BagOfWords bag,
                           const TopicTrainingOptions& options)
    : manager_(manager),
      options_(checked(options, manager.ranks())),
      priors_(options.priors(bag.words())),
      local_workers_(workers_of(options.workers, manager.rank())),
      lengths_(bag.lengths().begin(), bag.lengths().end()),
      checksum_(bag.checksum()),
      tokens_(std::accumulate(lengths_.begin(), lengths_.end(), std::uint64_t{0})),
      tables_(create_topic_tables(manager, options_.tables, priors_, options_.consistency)),
      workers_(static_cast<std::size_t>(local_workers_)) {
  const auto longest = std::ranges::max_element(lengths_);
  if (*longest > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ConfigurationError(fmt::format("document {} has {} words, expected at most 2^31 - 1",
                                         longest - lengths_.begin() + 1, *longest));
  }
  options_.worker.localizes = manager.options().technique == adapm::Technique::localize;
  const auto counts = static_cast<double>(topic_sampler_bytes(bag, priors_));
  const double bytes = counts + static_cast<double>(bag.tokens() * sizeof(WordTokens::Token));
  manager.server().run_workers(local_workers_, [&](Worker& worker) {
    if (worker.local_index() == 0) {
      require_memory(fmt::format("{} documents with {} tokens and {} topics", bag.documents(), bag.tokens(),
                                 priors_.topics()),
                     bytes, options_.host_ranks);
    }
    const auto documents = documents_of_worker(bag, options_.workers, manager_, worker.local_index());
    workers_[worker.local_index()] = std::make_unique<TopicWorker>(bag, documents, priors_, options_.worker);
  });
}

TopicTrainer::~TopicTrainer() = default;

std::size_t TopicTrainer::workers() const {
  return total_workers(options_.workers, manager_.ranks());
}

bool TopicTrainer::evaluates(std::uint64_t epoch) const {
  return epoch == options_.epochs || (options_.evaluate_every != 0 && epoch % options_.evaluate_every == 0);
}

void TopicTrainer::run(const std::function<void(const TopicEpoch&)>& on_epoch, TrainingJob* job) {
  const bool resumed = job != nullptr && resume(*job);
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    TopicWorker& own = *workers_[worker.local_index()];
    if (!resumed) own.draw_first_topics();
    own.push_counts(worker, tables_);
  });
  const auto state = [this] { return saved_state(); };
  while (epochs_.size() < options_.epochs) {
    run_epoch();
    if (on_epoch) on_epoch(epochs_.back());
    if (epochs_.size() == options_.epochs) break;
    has_stopped_ = job != nullptr && job->pause(progress(), state);
    if (has_stopped_) return;
  }
  // A resumed training may have nothing left to do.
  if (!epochs_.empty()) evaluate(epochs_.back());
  if (job != nullptr) job->finish(progress(), state);
}

void TopicTrainer::run_epoch() {
  const std::uint64_t epoch = epochs_.size();
  TopicEpoch record;
  record.epoch = epoch + 1;
  const auto ids = tables_.ids();
  record.cost = run_measured(
      manager_, local_workers_, ids, epoch_name(epoch + 1),
      [&](adapm::IntentWorker& worker) { workers_[worker.local_index()]->run(worker, tables_, epoch); });
  if (options_.optimizes(record.epoch)) {
    const auto begin = std::chrono::steady_clock::now();
    optimize_priors();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    record.priors = {priors_.all_alpha(), priors_.beta, taken.count()};
  }
  if (evaluates(record.epoch)) evaluate(record);
  epochs_.push_back(record);
}

void TopicTrainer::evaluate(TopicEpoch& record) {
  if (!record.likelihood) record.likelihood = likelihood();
  if (held_out_ && !record.held_out) record.held_out = held_out_->likelihood(manager_, tables_, priors_);
}

void TopicTrainer::optimize_priors() {
  std::vector<PriorCounts> own(workers_.size(), PriorCounts(priors_.topics()));
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    own[worker.local_index()] = workers_[worker.local_index()]->prior_counts(worker, tables_);
  });
  PriorCounts all(priors_.topics());
  const auto own_bytes = [&] {
    PriorCounts of_rank(priors_.topics());
    for (const PriorCounts& counts : own) of_rank.add_bytes(counts.to_bytes());
    return of_rank.to_bytes();
  };
  for (const std::string& bytes : manager_.server().exchange("optimize_priors", own_bytes))
    all.add_bytes(bytes);
  set_priors(optimized_priors(priors_, all));
}

void TopicTrainer::set_priors(const TopicPriors& priors) {
  priors_ = priors;
  for (const auto& worker : workers_) worker->set_priors(priors_);
}

double TopicTrainer::likelihood() {
  double sum = 0;
  // Ranks without workers take part to receive the sum.
  std::vector<double> own(workers_.size());
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    own[worker.local_index()] = workers_[worker.local_index()]->likelihood(worker, tables_);
  });
  manager_.server().run_workers(1, [&](Worker& worker) {
    std::array<double, 1> all{std::accumulate(own.begin(), own.end(), 0.0)};
    worker.all_reduce(all);
    sum = all[0];
  });
  return sum / static_cast<double>(tokens_);
}

std::vector<std::optional<double>> TopicTrainer::coherences(const TopicWordLists& topics) {
  std::vector<Cooccurrences> own(workers_.size(), Cooccurrences(topics));
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    own[worker.local_index()].add(workers_[worker.local_index()]->tokens());
  });
  Cooccurrences all(topics);
  for (Cooccurrences& counts : own)
    std::ranges::transform(all.counts(), counts.counts(), all.counts().begin(), std::plus());
  manager_.server().run_workers(1, [&](Worker& worker) { worker.all_reduce(all.counts()); });
  std::vector<std::optional<double>> coherences;
  for (std::size_t topic = 0; topic < topics.size(); ++topic)
    coherences.push_back(all.coherence(topic, static_cast<std::int64_t>(documents())));
  return coherences;
}

void TopicTrainer::for_each_document(
    const std::function<void(std::uint64_t number, std::span<const TopicId> topics)>& f) const {
  for (const auto& worker : workers_) worker->topics_of_documents(f);
}

}  // namespace lapse::apps

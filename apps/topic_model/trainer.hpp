// Trains a topic model on a parameter manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/measured_phase.hpp"
#include "apps/common/training_job.hpp"
#include "apps/topic_model/coherence.hpp"
#include "apps/topic_model/held_out.hpp"
#include "apps/topic_model/topic_worker.hpp"
#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::apps {

struct TopicTrainingOptions {
  std::string tables = "topics";         // prefix of the tables' names; unique in the manager
  std::vector<std::int32_t> workers{1};  // by rank; a single number applies to every rank
  std::size_t topics = 100;
  std::optional<double> alpha = {};  // TopicPriors; default: 50 / topics
  double beta = 0.01;
  std::uint64_t epochs = 100;
  std::uint64_t evaluate_every = 10;            // epochs; 0: only after the last
  std::uint64_t optimize_every = 0;             // epochs between optimizations of the priors; 0: none
  std::uint64_t optimize_after = 20;            // epochs before the first of these
  std::optional<Consistency> consistency = {};  // of both tables; a clock is a batch
  TopicWorkerOptions worker;
  std::int32_t host_ranks = 1;  // ranks of a host: each may use its share of the memory

  TopicPriors priors(std::uint64_t words) const;
  // Whether the priors are optimized after an epoch, numbered from 1.
  bool optimizes(std::uint64_t epoch) const {
    return optimize_every != 0 && epoch > optimize_after && (epoch - optimize_after) % optimize_every == 0;
  }
  // Throws ConfigurationError for invalid values or combinations.
  void check(std::int32_t ranks) const;
};

struct TopicEpoch {
  std::uint64_t epoch = 0;  // from 1
  // The joint likelihood of words and topics, ln p(w, z), divided by the number of tokens, after the
  // epoch.
  std::optional<double> likelihood = {};
  // The priors, if they were optimized after the epoch.
  struct Priors {
    double all_alpha = 0;  // the sum over all topics
    double beta = 0;
    double seconds = 0;  // that the optimization took
  };
  std::optional<Priors> priors = {};
  // HeldOutDocuments::likelihood, together with the other likelihood.
  std::optional<double> held_out = {};
  PhaseCost cost = {};
};

// Throws ConfigurationError for a prior that the samplers, which compute with floats, do not allow.
void check_priors(const TopicPriors& priors);

// Used by the manager's thread. Every call is collective, and has the same effect on every rank, also on
// ranks without workers. Errors are thrown on every rank.
class TopicTrainer {
 public:
  // Collective. Creates the tables. The manager must outlive the trainer; `bag`: from load_documents. Throws
  // ConfigurationError for invalid options and for a document with more than 2^31 - 1 tokens; OutOfMemory if
  // the host has too little for the workers' tokens and counts.
  TopicTrainer(adapm::ParameterManager& manager, io::BagOfWords bag, const TopicTrainingOptions& options);
  ~TopicTrainer();
  TopicTrainer(const TopicTrainer&) = delete;
  TopicTrainer& operator=(const TopicTrainer&) = delete;

  // Collective. Runs the epochs of the options; calls on_epoch on every rank after each. `job`, which
  // may be null, saves checkpoints between epochs. If it resumes, the training continues from its
  // checkpoint. If it is to stop, the training returns, and has_stopped().
  void run(const std::function<void(const TopicEpoch&)>& on_epoch = {}, TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }

  // Evaluates on these documents, which must have the words of the training, whenever the likelihood is
  // computed. Call it before run().
  void set_held_out(HeldOutDocuments documents) { held_out_.emplace(std::move(documents)); }

  // Collective. TopicEpoch::likelihood of the current topics.
  double likelihood();
  // Collective. Replaces the priors by those that fit the current topics best (optimized_priors): equal on
  // every rank, and for given topics independent of the number of ranks, bit for bit.
  void optimize_priors();

  // Collective. Cooccurrences::coherence of each topic in the documents of the training. `topics`: equal on
  // all ranks.
  std::vector<std::optional<double>> coherences(const TopicWordLists& topics);

  const std::vector<TopicEpoch>& epochs() const { return epochs_; }
  const TopicTables& tables() const { return tables_; }
  const TopicPriors& priors() const { return priors_; }  // the current ones
  std::uint64_t tokens() const { return tokens_; }       // of all documents
  std::size_t documents() const { return lengths_.size(); }
  std::size_t workers() const;

  // Collective. Calls f(number, topics) on this rank for each of its documents, with the topic of each token.
  void for_each_document(
      const std::function<void(std::uint64_t number, std::span<const TopicId> topics)>& f) const;

 private:
  void run_epoch();
  void set_priors(const TopicPriors& priors);
  void evaluate(TopicEpoch& record);
  // Whether the likelihood is computed after an epoch, numbered from 1.
  bool evaluates(std::uint64_t epoch) const;

  // Content of a checkpoint: the topics of all tokens, in a table, and the priors. The counts follow from
  // them.
  bool resume(TrainingJob& job);
  void read_priors(const Json& state);
  void read_topics(Worker& worker);
  RunIdentity identity() const;
  SavedState saved_state();
  JobProgress progress() const;

  adapm::ParameterManager& manager_;
  TopicTrainingOptions options_;
  TopicPriors priors_;
  std::int32_t local_workers_;
  std::vector<std::uint64_t> lengths_;  // tokens, by document
  std::uint64_t checksum_;              // of the documents
  std::uint64_t tokens_ = 0;
  TopicTables tables_;
  std::optional<Table<std::int32_t>> topics_of_documents_;  // by document; if there is a job
  std::vector<std::unique_ptr<TopicWorker>> workers_;       // by local index
  std::vector<TopicEpoch> epochs_;
  std::optional<HeldOutDocuments> held_out_;
  bool has_stopped_ = false;
};

}  // namespace lapse::apps

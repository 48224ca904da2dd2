// Finds the topics of documents by latent Dirichlet allocation on the parameter manager.
//   mpirun -n 4 topic_model docword.kos.txt --vocabulary vocab.kos.txt --topics 100 --output topics.txt
//   mpirun -n 4 topic_model news.txt --text --save-model news
//   mpirun -n 4 topic_model more_news.txt --text --model news --document-topics more_news.tsv
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "apps/common/given_descriptors.hpp"
#include "apps/common/manager_application.hpp"
#include "apps/common/model_description.hpp"
#include "apps/common/progress_line.hpp"
#include "apps/common/training_advice.hpp"
#include "apps/topic_model/document_topics.hpp"
#include "apps/topic_model/documents.hpp"
#include "apps/topic_model/options.hpp"
#include "apps/topic_model/report.hpp"
#include "apps/topic_model/saved_topics.hpp"
#include "apps/topic_model/top_words.hpp"
#include "apps/topic_model/topic_list.hpp"

namespace {

using namespace lapse::apps;
using lapse::ParameterServer;
using lapse::Worker;

// Runs the program on one rank.
class TopicModelProgram {
 public:
  TopicModelProgram(adapm::ParameterManager& manager, const TopicModelOptions& options,
                    const GivenDescriptors& given)
      : manager_(manager),
        server_(manager.server()),
        options_(options),
        given_(given),
        reports_(manager.rank() == lapse::Rank{0}) {}

  // Returns the exit status.
  int run() {
    options_.training.check(server_.ranks());
    ModelDescription::check_paths(options_.save_model,
                                  {options_.results.summary_json, options_.results.report, options_.output});
    make_training_job(job_, server_, options_.checkpoints);
    run_on_rank_0(server_, [&](Worker&) {
      given_.check({options_.documents.file, options_.documents.vocabulary, options_.documents.stop_words,
                    options_.held_out},
                   server_.ranks());
      options_.results.create();
      if (!options_.output.empty()) write_text_file(options_.output, "");
    });
    return options_.model.empty() ? train() : infer();
  }

 private:
  int train() {
    TopicDocuments documents = load_documents(server_, options_.documents, options_.training.workers);
    print_left_out(documents);
    TopicTrainer trainer(manager_, std::move(documents.bag), options_.training);
    if (reports_) fmt::print("{}\n", describe(trainer));
    load_held_out(trainer, documents.vocabulary);
    std::optional<TopicFiles> model;
    run_on_rank_0(server_, [&](Worker&) {
      if (!options_.save_model.empty()) model.emplace(options_.save_model, trainer.priors());
    });
    train(trainer);
    if (trainer.has_stopped()) {
      if (reports_) fmt::print("{}\n", job_->stop_text());
      return options_.checkpoints.stop_status;
    }
    run_on_rank_0(server_, [&](Worker& worker) {
      if (model) model->write(worker, trainer.tables(), trainer.priors(), documents.vocabulary);
    });
    report(trainer, documents.vocabulary);
    return EXIT_SUCCESS;
  }

  int infer() {
    const SavedTopics saved = read_saved_topics(server_, options_.model);
    const TopicDocuments documents =
        load_more_documents(server_, options_.documents, saved.vocabulary, saved.priors.words, options_.model,
                            options_.training.workers);
    print_left_out(documents);
    const TopicTables tables =
        create_topic_tables(manager_, options_.training.tables, saved.priors, options_.training.consistency);
    load_saved_counts(server_, options_.model, tables);
    write_document_topics(manager_, tables, saved.priors, documents.bag, options_.training.workers,
                          options_.document_topics);
    Summary summary;
    summary.add("documents", std::uint64_t{documents.bag.lengths().size()}, "documents");
    summary.add("topics", std::uint64_t{saved.priors.topics()}, "topics");
    run_on_rank_0(server_, [&](Worker&) {
      fmt::print("{}", summary.to_text());
      options_.results.write(summary, options_.documents.file);
    });
    return EXIT_SUCCESS;
  }

  // Of a text.
  void print_left_out(const TopicDocuments& documents) const {
    if (!reports_ || documents.unknown_tokens == 0) return;
    fmt::print("{} tokens are not of the vocabulary's {} words; {} documents have none of these\n",
               documents.unknown_tokens, documents.vocabulary.size(), documents.empty_documents);
  }

  void load_held_out(TopicTrainer& trainer, const lapse::io::Vocabulary& vocabulary) {
    if (options_.held_out.empty()) return;
    const TopicTrainingOptions& training = options_.training;
    DocumentOptions more = options_.documents;
    more.file = options_.held_out;
    const TopicDocuments documents = load_more_documents(server_, more, vocabulary, trainer.priors().words,
                                                         options_.documents.file, training.workers);
    print_left_out(documents);
    HeldOutDocuments held_out(manager_, documents.bag, training.workers, training.worker.seed);
    if (reports_) {
      fmt::print("{} held-out documents: {} tokens are predicted\n", held_out.documents(), held_out.tokens());
    }
    trainer.set_held_out(std::move(held_out));
  }

  void train(TopicTrainer& trainer) {
    std::optional<ProgressLine> progress;
    if (reports_) progress.emplace(stdout);
    RemainingTime left(options_.training.epochs);
    trainer.run(
        [&](const TopicEpoch& record) {
          if (progress) progress->report(describe(record, trainer.tokens()) + left.after(record.epoch));
        },
        job_ ? &*job_ : nullptr);
  }

  void report(TopicTrainer& trainer, const lapse::io::Vocabulary& vocabulary) {
    const std::vector<TopicWords> topics =
        list_topics(server_, trainer, options_.top_words, options_.coherence_words);
    Summary summary;
    add_training(summary, trainer, manager_.options().technique, manager_.statistics());
    run_on_rank_0(server_, [&](Worker&) {
      add_coherence(summary, topics, options_.coherence_words);
      const std::string text = to_text(topics, vocabulary);
      if (!options_.output.empty()) write_text_file(options_.output, text);
      fmt::print("{}{}", largest(text), summary.to_text());
      options_.results.write(summary, describe(trainer));
    });
  }

  // The first lines.
  static std::string_view largest(std::string_view topics) {
    constexpr std::size_t kShown = 5;
    std::size_t end = 0;
    for (std::size_t i = 0; i < kShown && end < topics.size(); ++i) end = topics.find('\n', end) + 1;
    return topics.substr(0, end);
  }

  adapm::ParameterManager& manager_;
  ParameterServer& server_;
  const TopicModelOptions& options_;
  const GivenDescriptors& given_;
  bool reports_;
  std::optional<TrainingJob> job_;
};

}  // namespace

int main(int argument_count, char** arguments) {
  return run_manager_application<TopicModelProgram, TopicModelOptions>(
      "Topics of documents by latent Dirichlet allocation on the parameter manager AdaPM.", argument_count,
      arguments);
}

// Finds the topics of documents by latent Dirichlet allocation on the parameter manager.
//   mpirun -n 4 topic_model docword.kos.txt --vocabulary vocab.kos.txt --topics 100 --output topics.txt
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/given_descriptors.hpp"
#include "apps/common/manager_program.hpp"
#include "apps/common/mpi_session.hpp"
#include "apps/common/progress_line.hpp"
#include "apps/common/worker_readers.hpp"
#include "apps/topic_model/options.hpp"
#include "apps/topic_model/report.hpp"
#include "apps/topic_model/top_words.hpp"
#include "lapse/core/error.hpp"
#include "lapse/io/loading/shared_inputs.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"

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
    make_training_job(job_, server_, options_.checkpoints);
    run_on_rank_0(server_, [&](Worker&) {
      given_.check({options_.documents, options_.vocabulary}, server_.ranks());
      for (const std::string& file : {options_.summary_json, options_.output})
        if (!file.empty()) write_text_file(file, "");
    });
    lapse::io::BagOfWords bag = load_documents(server_, options_.documents, options_.training.workers);
    const lapse::io::Vocabulary vocabulary = load_vocabulary(bag.words());
    TopicTrainer trainer(manager_, std::move(bag), options_.training);
    if (reports_) fmt::print("{}\n", describe(trainer));
    train(trainer);
    if (trainer.has_stopped()) {
      if (reports_) fmt::print("{}\n", job_->stop_text());
      return options_.checkpoints.stop_status;
    }
    report(trainer, vocabulary);
    return EXIT_SUCCESS;
  }

 private:
  lapse::io::Vocabulary load_vocabulary(std::uint64_t words) {
    lapse::io::Vocabulary vocabulary;
    if (options_.vocabulary.empty()) return vocabulary;
    server_.run_workers(1, [&](Worker& worker) {
      vocabulary = lapse::io::read_vocabulary(
          lapse::io::shared_inputs({options_.vocabulary}, worker_readers(server_, worker)).front());
      if (vocabulary.size() != words) {
        throw lapse::FileError(options_.vocabulary,
                               fmt::format("has {} words, but {} counts {} different words",
                                           vocabulary.size(), options_.documents, words));
      }
    });
    return vocabulary;
  }

  void train(TopicTrainer& trainer) {
    std::optional<ProgressLine> progress;
    if (reports_) progress.emplace(stdout);
    trainer.run(
        [&](const TopicEpoch& record) {
          if (progress) progress->report(describe(record, trainer.tokens()));
        },
        job_ ? &*job_ : nullptr);
  }

  void report(const TopicTrainer& trainer, const lapse::io::Vocabulary& vocabulary) {
    Summary summary;
    add_training(summary, trainer, manager_.options().technique, manager_.statistics());
    run_on_rank_0(server_, [&](Worker& worker) {
      const std::string topics =
          to_text(read_top_words(worker, trainer.tables(), options_.top_words), vocabulary);
      if (!options_.output.empty()) write_text_file(options_.output, topics);
      fmt::print("{}{}", largest(topics), summary.to_text());
      if (!options_.summary_json.empty()) write_text_file(options_.summary_json, summary.to_json());
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
  const MpiSession mpi(argument_count, arguments);
  CLI::App app{"Topics of documents by latent Dirichlet allocation on the parameter manager AdaPM."};
  TopicModelOptions options;
  add_options(app, options);
  options.settings.file = mpi.options_file();
  options.training.host_ranks = mpi.host_ranks();
  if (const auto status = parse_command_line(app, argument_count, arguments, mpi)) return *status;
  int status = EXIT_SUCCESS;
  const int failure =
      run_manager_program(options.technique, options.settings, [&](adapm::ParameterManager& manager) {
        status = TopicModelProgram(manager, options, mpi.given_descriptors()).run();
      });
  return failure != EXIT_SUCCESS ? failure : status;
}

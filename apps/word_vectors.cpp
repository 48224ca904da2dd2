// Trains vectors of words by skip-gram with negative sampling on the parameter manager.
//   mpirun -n 4 word_vectors text.txt --workers 2 --output vectors.bin --analogies questions-words.txt
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "apps/common/given_descriptors.hpp"
#include "apps/common/load_corpus.hpp"
#include "apps/common/manager_application.hpp"
#include "apps/common/model_description.hpp"
#include "apps/common/progress_line.hpp"
#include "apps/common/table_reader.hpp"
#include "apps/common/training_advice.hpp"
#include "apps/common/worker_counts.hpp"
#include "apps/common/worker_readers.hpp"
#include "apps/word_vectors/known_vectors.hpp"
#include "apps/word_vectors/options.hpp"
#include "apps/word_vectors/report.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/io/loading/shared_inputs.hpp"

namespace {

using namespace lapse::apps;
using lapse::ParameterServer;
using lapse::Worker;

// Runs the program on one rank.
class WordVectorsProgram {
 public:
  WordVectorsProgram(adapm::ParameterManager& manager, const WordVectorsOptions& options,
                     const GivenDescriptors& given)
      : manager_(manager),
        server_(manager.server()),
        options_(options),
        given_(given),
        reports_(manager.rank() == lapse::Rank{0}) {}

  // Returns the exit status.
  int run() {
    options_.training.check(server_.ranks());
    ModelDescription::check_paths(options_.output, {options_.results.summary_json, options_.results.report});
    make_training_job(job_, server_, options_.checkpoints);
    workers_ = workers_of(options_.training.workers, server_.rank());
    server_.run_workers(1, [&](Worker&) {
      if (reports_)
        given_.check({options_.evaluate_only, options_.evaluation.analogies,
                      options_.evaluation.word_similarity, options_.initial},
                     server_.ranks());
    });
    if (options_.evaluate_only.empty()) {
      if (!train()) return options_.checkpoints.stop_status;
    } else {
      evaluate_file();
    }
    run_on_rank_0(server_, [&](Worker&) {
      fmt::print("{}", summary_.to_text());
      options_.results.write(summary_, data_);
    });
    return EXIT_SUCCESS;
  }

 private:
  // Returns whether the training is complete.
  bool train() {
    const Corpus corpus = load_corpus(server_, workers_, options_.corpus);
    data_ = describe(corpus, options_.corpus.min_count);
    if (reports_) fmt::print("{}\n", data_);
    const EvaluationData questions = load_questions(corpus.words);
    Trainer trainer(manager_, corpus, options_.training);
    std::optional<VectorFileWriter> output;
    run_on_rank_0(server_, [&](Worker&) {
      options_.results.create();
      if (!options_.output.empty())
        output.emplace(options_.output, options_.output_format, corpus.words.size(),
                       options_.training.dimensions);
    });
    if (!options_.initial.empty()) {
      trainer.set_initial([&] {
        run_on_rank_0(server_, [&](Worker& worker) {
          const WordVectors known = read_known_vectors(options_.initial, options_.training.dimensions);
          fmt::print("{}\n",
                     set_known_vectors(worker, options_.initial, known, corpus.words, trainer.tables()));
        });
      });
    }
    run_epochs(trainer, corpus);
    if (trainer.has_stopped()) {
      if (reports_) fmt::print("{}\n", job_->stop_text());
      return false;
    }
    run_on_rank_0(server_, [&](Worker& worker) {
      if (!output) return;
      ModelDescription::remove(options_.output);
      write(worker, trainer.tables().inputs, corpus.words, *output);
      describe_vectors(options_.output_format, corpus.words.size(), options_.training.dimensions,
                       options_.output)
          .write(options_.output);
    });
    if (questions.analogies || questions.pairs)
      add_evaluation(summary_, evaluate(server_, workers_, read_table(trainer.tables().inputs, corpus.words),
                                        questions));
    add_training(summary_, trainer, manager_.options().technique, manager_.statistics());
    return true;
  }

  void evaluate_file() {
    WordVectors vectors;
    server_.run_workers(1, [&](Worker& worker) {
      if (reports_) options_.results.create();
      vectors = read_vectors(
          lapse::io::shared_inputs({options_.evaluate_only}, worker_readers(server_, worker)).front());
    });
    data_ = fmt::format("{} words, {} dimensions", vectors.words.size(), vectors.dimensions);
    if (reports_) fmt::print("{}\n", data_);
    add_evaluation(summary_, evaluate(server_, workers_, vectors, load_questions(vectors.words)));
  }

  EvaluationData load_questions(const lapse::io::Vocabulary& words) {
    EvaluationData questions;
    server_.run_workers(1, [&](Worker& worker) {
      questions = load_evaluation(options_.evaluation, words, worker_readers(server_, worker));
    });
    return questions;
  }

  void run_epochs(Trainer& trainer, const Corpus& corpus) {
    std::optional<ProgressLine> progress;
    Trainer::OnProgress on_progress;
    if (reports_) progress.emplace(stdout);
    if (reports_ && options_.progress_seconds > 0) {
      on_progress = [&, shown = 0.0](std::uint64_t epoch, const EpochProgress& done, double seconds) mutable {
        if (seconds < shown) shown = 0;  // another epoch
        if (seconds - shown < options_.progress_seconds) return;
        shown = seconds;
        progress->report(describe(epoch, done, corpus, seconds));
      };
    }
    RemainingTime left(options_.training.runner.epochs);
    const auto on_epoch = [&](const EpochRecord& record) {
      if (progress) progress->report(describe(record) + left.after(record.epoch));
    };
    trainer.run(on_epoch, on_progress, job_ ? &*job_ : nullptr);
  }

  static void write(Worker& worker, const lapse::Table<float>& table, const lapse::io::Vocabulary& words,
                    VectorFileWriter& file) {
    const std::size_t length = table.length();
    lapse::io::Vocabulary::Id word = 0;
    read_keys(worker, table, 0, table.keys(), [&](std::span<const float> values) {
      for (; !values.empty(); values = values.subspan(length))
        file.append(words.name(word++), values.first(length));
    });
    file.close();
  }

  WordVectors read_table(const lapse::Table<float>& table, const lapse::io::Vocabulary& words) {
    WordVectors vectors{words, table.length(), {}};
    server_.run_workers(1, [&](Worker& worker) {
      read_keys(worker, table, 0, table.keys(), [&](std::span<const float> values) {
        vectors.values.insert(vectors.values.end(), values.begin(), values.end());
      });
    });
    return vectors;
  }

  adapm::ParameterManager& manager_;
  ParameterServer& server_;
  const WordVectorsOptions& options_;
  const GivenDescriptors& given_;
  bool reports_;
  std::int32_t workers_ = 1;
  std::optional<TrainingJob> job_;
  std::string data_;  // described
  Summary summary_;
};

}  // namespace

int main(int argument_count, char** arguments) {
  return run_manager_application<WordVectorsProgram, WordVectorsOptions>(
      "Word vectors by skip-gram with negative sampling on the parameter manager AdaPM.", argument_count,
      arguments);
}

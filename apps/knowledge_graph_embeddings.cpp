// Trains embeddings of a knowledge graph on the parameter manager.
//   mpirun -n 4 knowledge_graph_embeddings train.txt --valid valid.txt --test test.txt --workers 2
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/given_descriptors.hpp"
#include "apps/common/manager_program.hpp"
#include "apps/common/model_description.hpp"
#include "apps/common/mpi_session.hpp"
#include "apps/common/progress_line.hpp"
#include "apps/common/training_advice.hpp"
#include "apps/common/worker_readers.hpp"
#include "apps/knowledge_graph_embeddings/embedding_files.hpp"
#include "apps/knowledge_graph_embeddings/known_embeddings.hpp"
#include "apps/knowledge_graph_embeddings/options.hpp"
#include "apps/knowledge_graph_embeddings/report.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"

namespace {

using namespace lapse::apps;
using lapse::Worker;

void train(Trainer& trainer, const KnowledgeGraph& graph, TrainingJob* job, bool reports) {
  if (!reports) return trainer.run({}, job);
  ProgressLine progress(stdout);
  RemainingTime left(trainer.options().epochs);
  trainer.run(
      [&](const EpochRecord& record) { progress.report(describe(record, graph) + left.after(record.epoch)); },
      job);
}

// Of a training that its last epoch has ended.
std::string advice(const Trainer& trainer) {
  if (trainer.epochs().size() < trainer.options().epochs) return {};
  std::vector<double> ranks;
  for (const EpochRecord& record : trainer.epochs()) {
    if (record.evaluation && record.evaluation->valid.all.ranks != 0)
      ranks.push_back(record.evaluation->valid.all.mean_reciprocal_rank);
  }
  return improvement_advice("valid MRR", ranks, true);
}

// Returns the exit status.
int embed(adapm::ParameterManager& manager, const KnowledgeGraphOptions& options,
          const GivenDescriptors& given) {
  lapse::ParameterServer& server = manager.server();
  const bool reports = server.rank() == lapse::Rank{0};
  options.training.check(server.ranks());
  ModelDescription::check_paths(options.output_prefix,
                                {options.results.summary_json, options.results.report});
  std::optional<TrainingJob> job;
  make_training_job(job, server, options.checkpoints);
  KnowledgeGraph graph;  // an error on one rank ends all ranks
  server.run_workers(1, [&](Worker& worker) {
    if (reports)
      given.check({options.data.train_file, options.data.valid_file, options.data.test_file}, server.ranks());
    graph = load_graph(options.data, worker_readers(server, worker));
  });
  if (options.check) {
    if (reports) fmt::print("{}", describe_data(graph));
    return EXIT_SUCCESS;
  }
  if (reports) fmt::print("{}\n", describe(graph));
  TrainingOptions training = options.training;
  const std::optional<std::string> fitted = training.fit(graph);
  if (fitted && reports) fmt::print("{}\n", *fitted);

  Trainer trainer(manager, graph, training);
  std::optional<EmbeddingFiles> files;
  run_on_rank_0(server, [&](Worker&) {
    options.results.create();
    if (!options.output_prefix.empty())
      files.emplace(options.output_prefix, graph, trainer.options().model, trainer.form());
  });
  if (!options.initial.empty()) {
    trainer.set_initial([&] {
      run_on_rank_0(server, [&](Worker& worker) {
        fmt::print("{}\n", set_known_embeddings(worker, options.initial, graph, trainer.options().model,
                                                trainer.form(), trainer.tables()));
      });
    });
  }
  train(trainer, graph, job ? &*job : nullptr, reports);
  if (trainer.has_stopped()) {
    if (reports) fmt::print("{}\n", job->stop_text());
    return options.checkpoints.stop_status;
  }
  run_on_rank_0(server, [&](Worker& worker) {
    if (files) files->write(worker, trainer.tables());
  });

  const Summary summary = summarize(trainer, graph, manager.statistics());
  run_on_rank_0(server, [&](Worker&) {
    fmt::print("{}{}", advice(trainer), summary.to_text());
    options.results.write(summary, describe(graph));
  });
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const MpiSession mpi(argument_count, arguments);
  CLI::App app{
      "Knowledge graph embeddings on the parameter server Lapse. Without a triple file, a graph is "
      "generated."};
  KnowledgeGraphOptions options;
  add_options(app, options);
  options.settings.file = mpi.options_file();
  if (const auto status = parse_command_line(app, argument_count, arguments, mpi)) return *status;
  options.data.host_ranks = mpi.host_ranks();
  // Without intents, workers place parameters themselves.
  const auto technique = options.training.runner.mode == TrainingMode::intent
                             ? options.technique
                             : std::optional(adapm::Technique::localize);
  int status = EXIT_SUCCESS;
  const int failure = run_manager_program(technique, options.settings, [&](adapm::ParameterManager& manager) {
    status = embed(manager, options, mpi.given_descriptors());
  });
  return failure != EXIT_SUCCESS ? failure : status;
}

// Factorizes a matrix of ratings or interactions with stochastic gradient descent on the parameter manager.
//   mpirun -n 4 matrix_factorization ratings.tsv --workers 2
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
#include "apps/matrix_factorization/baseline.hpp"
#include "apps/matrix_factorization/factor_files.hpp"
#include "apps/matrix_factorization/known_factors.hpp"
#include "apps/matrix_factorization/options.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/report.hpp"
#include "apps/matrix_factorization/trainer.hpp"

namespace {

using namespace lapse::apps;
using lapse::Worker;

void train(Trainer& trainer, TrainingJob* job, bool reports) {
  if (!reports) return trainer.run({}, job);
  ProgressLine progress(stdout);
  RemainingTime left(trainer.options().epochs);
  trainer.run(
      [&](const EpochRecord& record) {
        progress.report(describe(record, trainer.options().ranking.top) + left.after(record.epoch));
      },
      job);
}

// Of a training that its last epoch has ended.
std::string advice(const Trainer& trainer) {
  if (trainer.epochs().size() < trainer.options().epochs) return {};
  std::string measure;
  bool larger_is_better = false;
  std::vector<double> values;
  for (const EpochRecord& record : trainer.epochs()) {
    const std::optional<double> loss = record.deciding_loss();
    if (!loss) continue;
    larger_is_better = record.quality && record.quality->users != 0;
    values.push_back(larger_is_better ? -*loss : *loss);
    if (larger_is_better)
      measure = "test NDCG";
    else if (record.quality)
      measure = "train loss";
    else
      measure = record.errors->test_rmse ? "test RMSE" : "train RMSE";
  }
  return improvement_advice(measure, values, larger_is_better);
}

// Returns the exit status.
int factorize(adapm::ParameterManager& manager, const MatrixFactorizationOptions& options,
              const GivenDescriptors& given) {
  lapse::ParameterServer& server = manager.server();
  const bool reports = server.rank() == lapse::Rank{0};
  options.training.check(server.ranks());
  ModelDescription::check_paths(options.output_prefix,
                                {options.results.summary_json, options.results.report});
  std::optional<TrainingJob> job;
  make_training_job(job, server, options.checkpoints);
  FactorizationProblem problem;  // an error on one rank ends all ranks
  server.run_workers(1, [&](Worker& worker) {
    if (reports) given.check({options.data.train_file, options.data.test_file}, server.ranks());
    problem = load_problem(options.data, worker_readers(server, worker));
  });
  if (options.check) {
    if (reports) fmt::print("{}", describe_data(problem));
    return EXIT_SUCCESS;
  }
  const RankingOptions& ranking = options.training.ranking;
  const bool has_baselines = options.baselines && !problem.test.empty();
  BaselineResults baselines;
  run_on_rank_0(server, [&](Worker&) {
    if (has_baselines && !ranking.ranks()) baselines.errors = compute_baselines(problem);
  });
  if (reports) fmt::print("{}\n", describe(problem, baselines));
  Trainer trainer(manager, problem, options.training);
  if (has_baselines && ranking.ranks() && options.training.evaluate_every != 0) {
    baselines.popularity = trainer.evaluate_popularity();
    if (reports) fmt::print("{}", describe_popularity(*baselines.popularity, ranking.top));
  }

  std::optional<FactorFiles> files;
  run_on_rank_0(server, [&](Worker&) {
    options.results.create();
    if (!options.output_prefix.empty()) {
      files.emplace(options.output_prefix, problem, trainer.model(), ranking.loss);
    }
  });
  if (!options.initial.empty()) {
    trainer.set_initial([&] {
      run_on_rank_0(server, [&](Worker& worker) {
        fmt::print("{}\n", set_known_factors(worker, options.initial, problem, trainer.model(), ranking.loss,
                                             trainer.factors()));
      });
    });
  }
  train(trainer, job ? &*job : nullptr, reports);
  if (trainer.has_stopped()) {
    if (reports) fmt::print("{}\n", job->stop_text());
    return options.checkpoints.stop_status;
  }
  run_on_rank_0(server, [&](Worker& worker) {
    if (files) files->write(worker, trainer.factors());
  });

  const Summary summary = summarize(trainer, problem, baselines, manager.statistics());
  run_on_rank_0(server, [&](Worker&) {
    fmt::print("{}{}", advice(trainer), summary.to_text());
    options.results.write(summary, describe(problem, baselines));
  });
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const MpiSession mpi(argument_count, arguments);
  CLI::App app{
      "Matrix factorization on the parameter server Lapse. Without a rating file, a matrix is generated."};
  MatrixFactorizationOptions options;
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
    status = factorize(manager, options, mpi.given_descriptors());
  });
  return failure != EXIT_SUCCESS ? failure : status;
}

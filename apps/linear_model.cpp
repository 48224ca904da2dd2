// Trains logistic regressions and support vector machines on the parameter manager, and predicts with them.
//   mpirun -n 2 linear_model a9a.train --test a9a.test --workers 2 --save-model a9a.model
//   mpirun -n 2 linear_model a9a.train --loss hinge --cost 0.1
//   linear_model --predict more --model a9a.model --output labels
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
#include "apps/linear_model/cross_validation.hpp"
#include "apps/linear_model/known_weights.hpp"
#include "apps/linear_model/model_file.hpp"
#include "apps/linear_model/options.hpp"
#include "apps/linear_model/prediction.hpp"
#include "apps/linear_model/report.hpp"

namespace {

using namespace lapse::apps;
using lapse::ParameterServer;
using lapse::Worker;

// Runs the program on one rank.
class LinearModelProgram {
 public:
  LinearModelProgram(adapm::ParameterManager& manager, const LinearModelOptions& options,
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
                                  {options_.results.summary_json, options_.results.report});
    make_training_job(job_, server_, options_.checkpoints);
    run_on_rank_0(server_, [&](Worker&) {
      given_.check({options_.samples.file, options_.test, options_.initial, options_.prediction.samples,
                    options_.model},
                   server_.ranks());
      options_.results.create();
    });
    return options_.model.empty() ? train() : predict();
  }

 private:
  int train() {
    const std::vector<std::int32_t>& workers = options_.training.workers;
    TrainingSamples samples = load_training_samples(server_, options_.samples, workers);
    const lapse::io::FirstFeature first_feature = samples.first_feature;
    LinearTrainingOptions training = options_.training;
    std::vector<CostQuality> qualities;
    if (options_.validation.folds > 0) {
      qualities = validate(samples);
      training.cost = best_cost(qualities).cost;
    }
    LinearTrainer trainer(manager_, std::move(samples), training);
    if (reports_) fmt::print("{}\n", describe(trainer));
    if (!options_.test.empty()) {
      TestSamples test(manager_,
                       load_test_samples(server_, options_.test, first_feature, trainer.classes(), workers),
                       trainer.form(), workers);
      if (reports_) fmt::print("{} test samples\n", test.size());
      trainer.set_test(std::move(test));
    }
    std::optional<LinearModelFile> model;
    run_on_rank_0(server_, [&](Worker&) {
      if (!options_.save_model.empty()) model.emplace(options_.save_model, trainer, first_feature);
    });
    if (!options_.initial.empty()) {
      trainer.set_initial([&] {
        run_on_rank_0(server_, [&](Worker&) { check_first_feature(options_.initial, first_feature); });
        return initial_weights(trainer);
      });
    }
    train(trainer);
    if (trainer.has_stopped()) {
      if (reports_) fmt::print("{}\n", job_->stop_text());
      return options_.checkpoints.stop_status;
    }
    run_on_rank_0(server_, [&](Worker& worker) {
      if (model) model->write(worker, trainer);
    });
    Summary summary;
    if (!qualities.empty()) add_cross_validation(summary, qualities);
    add_training(summary, trainer, manager_.options().technique, manager_.statistics());
    report(summary, describe(trainer));
    return EXIT_SUCCESS;
  }

  std::vector<CostQuality> validate(const TrainingSamples& samples) {
    if (reports_) fmt::print("cross-validation with {} folds\n", options_.validation.folds);
    auto qualities = cross_validate(manager_, samples, options_.training, options_.validation,
                                    [&](const CostQuality& quality) {
                                      if (reports_) fmt::print("{}\n", describe(quality));
                                    });
    if (reports_ && qualities.size() > 1) fmt::print("the best cost: {:g}\n", best_cost(qualities).cost);
    return qualities;
  }

  InitialWeights initial_weights(const LinearTrainer& trainer) {
    InitialWeights initial = known_weights(load_model(server_, options_.initial), options_.initial,
                                           trainer.form(), trainer.classes());
    if (reports_) {
      fmt::print("starts from {}: {} of {} features have weights\n", options_.initial, initial.known,
                 trainer.form().features);
    }
    return initial;
  }

  void train(LinearTrainer& trainer) {
    std::optional<ProgressLine> progress;
    if (reports_) progress.emplace(stdout);
    trainer.run(
        [&](const LinearEpoch& record) {
          if (progress) progress->report(describe(record, trainer));
        },
        job_ ? &*job_ : nullptr);
  }

  int predict() {
    const LinearModel model = load_model(server_, options_.model);
    Summary summary;
    add_prediction(summary,
                   write_predictions(server_, model, options_.prediction, options_.training.workers));
    report(summary, options_.prediction.samples);
    return EXIT_SUCCESS;
  }

  void report(const Summary& summary, const std::string& data) {
    run_on_rank_0(server_, [&](Worker&) {
      fmt::print("{}", summary.to_text());
      options_.results.write(summary, data);
    });
  }

  adapm::ParameterManager& manager_;
  ParameterServer& server_;
  const LinearModelOptions& options_;
  const GivenDescriptors& given_;
  bool reports_;
  std::optional<TrainingJob> job_;
};

}  // namespace

int main(int argument_count, char** arguments) {
  return run_manager_application<LinearModelProgram, LinearModelOptions>(
      "Logistic regression and support vector machines on the parameter manager AdaPM.", argument_count,
      arguments);
}

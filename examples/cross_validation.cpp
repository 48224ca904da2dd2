// Cross-validation in 31 tasks: logistic regression for each of six penalties and five folds, some with one
// worker and some with two, on the slots of all ranks; the last task follows all others and compares.
#include <cmath>
#include <cstdio>

#include "lapse/io/samples/svm_file.hpp"
#include "lapse/stage/engine.hpp"
#include "lapse/transport/mpi/environment.hpp"

using namespace lapse::stage;
int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const auto data = lapse::io::read_svm_file(lapse::io::Input(argv[argc - 1])).samples;
  lapse::ParameterServer server(MPI_COMM_WORLD);
  // A key for each model. Under bsp, the workers of a task see each other's steps from the next clock on.
  const auto models = server.create_table<float>(
      {.keys = 30, .length = data.all_features(), .consistency = lapse::Consistency::bsp});
  const auto right = server.create_table<double>({.name = "right", .keys = 6, .length = 1});
  const auto margin = [&](std::size_t sample, const std::vector<float>& model) {
    double sum = 0;
    for (const auto [feature, value] : data.features(sample)) sum += model[feature] * value;
    return sum * data.label(sample);
  };
  Engine engine(server, {.slots = 2});
  std::vector<TaskId> tasks;
  for (std::uint64_t number = 0; number < 30; ++number) {
    const std::uint64_t strength = number / 5;
    const auto train = [&, number, strength,
                        model = std::vector<float>(data.all_features())](Info& info) mutable {
      for (int step = 0; step < 50; ++step, info.worker().advance_clock()) {
        info.worker().pull(models, lapse::Key(number), model).wait();
        std::vector<float> change(model);
        const double penalty = std::pow(10, -double(strength)) / double(info.count());
        for (float& weight : change) weight *= float(-0.5 * penalty);
        for (std::size_t i = info.index(); i < data.samples(); i += info.count()) {
          if (i % 5 == number % 5) continue;
          const double slope = data.label(i) / (1 + std::exp(margin(i, model))) / double(data.samples());
          for (const auto [feature, value] : data.features(i)) change[feature] += float(slope / 2) * value;
        }
        info.worker().push(models, lapse::Key(number), change);
      }
    };
    const auto test = [&, number, model = std::vector<float>(data.all_features())](Info& info) mutable {
      info.worker().pull(models, lapse::Key(number), model).wait();
      double share = 0;
      for (std::size_t i = number % 5; i < data.samples(); i += 5) share += margin(i, model) > 0;
      info.worker().push(right, lapse::Key(number / 5), std::vector{share / double(data.samples())});
    };
    const auto workers = std::int32_t(1 + number % 2);
    tasks.push_back(engine.submit({.stages = {{"train", train, workers}, {"test", test, 1}}}));
  }
  const auto compare = [&](Info& info) {
    std::vector<double> share(1);
    for (std::uint64_t i = 0; i < 6; ++i) {
      info.worker().pull(right, lapse::Key(i), share).wait();
      std::printf("penalty %g: %.2f %% right\n", std::pow(10, -double(i)), 100 * share[0]);
    }
  };
  engine.submit_and_wait({.after = tasks, .stages = {{"compare", compare, 1}}});
  server.close();
  MPI_Finalize();
}

// Step 3: keys move to the rank that uses them next, while it still works on other samples; the table's
// update rule applies the gradient. `+` marks new lines since step 2.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "examples/plain_loop/samples.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const std::vector<Sample> samples = draw_samples(20'000);
  double last_loss = 0;
  std::optional<lapse::ParameterServer> owner;
  try {
    lapse::ParameterServer& server = owner.emplace(MPI_COMM_WORLD);
    const auto weights = server.create_table<float>(
        {.name = "weights",
         .keys = kFeatures,
         .update_rule = lapse::UpdateRule::adagrad({.learning_rate = 0.5})});  // + steps that adapt, per key
    server.run_workers(1, [&](lapse::Worker& worker) {
      const std::size_t ahead = 4 * worker.count();  // + covers a round trip
      for (int epoch = 1; epoch <= 3; ++epoch) {
        double loss[] = {0};
        for (std::size_t i = worker.index(); i < samples.size(); i += worker.count()) {
          if (i + ahead < samples.size()) worker.localize(weights, samples[i + ahead].features);  // +
          const Sample& sample = samples[i];
          std::vector<float> values(sample.features.size());
          worker.pull(weights, sample.features, values).wait();
          float error = -sample.label;
          for (const float value : values) error += value;
          worker.push(weights, sample.features, std::vector(values.size(), error));  // + the gradient
          loss[0] += error * error;
        }
        worker.all_reduce(loss);
        last_loss = loss[0] / static_cast<double>(samples.size());
        if (worker.index() == 0) std::printf("epoch %d: loss %.4f\n", epoch, last_loss);
      }
    });
    server.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return last_loss < 0.01 ? EXIT_SUCCESS : EXIT_FAILURE;
}

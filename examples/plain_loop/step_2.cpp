// Step 2: the vector becomes a table, and workers share the samples. `+` marks new lines.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "examples/plain_loop/samples.hpp"
#include "lapse/ps/parameter_server.hpp"        // +
#include "lapse/transport/mpi/environment.hpp"  // +

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();                                 // +
  int provided = 0;                                                 // +
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);  // +
  constexpr float kLearningRate = 0.2F;
  const std::vector<Sample> samples = draw_samples(20'000);
  double last_loss = 0;
  std::optional<lapse::ParameterServer> owner;                                                // +
  try {                                                                                       // +
    lapse::ParameterServer& server = owner.emplace(MPI_COMM_WORLD);                           // +
    const auto weights = server.create_table<float>({.name = "weights", .keys = kFeatures});  // +
    server.run_workers(1, [&](lapse::Worker& worker) {                                        // +
      for (int epoch = 1; epoch <= 3; ++epoch) {
        double loss[] = {0};
        for (std::size_t i = worker.index(); i < samples.size(); i += worker.count()) {  // + its share
          const Sample& sample = samples[i];
          std::vector<float> values(sample.features.size());
          worker.pull(weights, sample.features, values).wait();  // +
          float error = -sample.label;
          for (const float value : values) error += value;
          worker.push(weights, sample.features, std::vector(values.size(), -kLearningRate * error));  // +
          loss[0] += error * error;
        }
        worker.all_reduce(loss);  // + the sum over all workers
        last_loss = loss[0] / static_cast<double>(samples.size());
        if (worker.index() == 0) std::printf("epoch %d: loss %.4f\n", epoch, last_loss);
      }
    });
    server.close();                              // +
  } catch (const std::exception& error) {        // +
    std::fprintf(stderr, "%s\n", error.what());  // +
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);     // +
  }
  MPI_Finalize();  // +
  return last_loss < 0.01 ? EXIT_SUCCESS : EXIT_FAILURE;
}

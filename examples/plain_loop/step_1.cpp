// Step 1: a plain loop in one process, without a server. Stochastic gradient descent on a linear model.
#include <cstdio>
#include <cstdlib>

#include "examples/plain_loop/samples.hpp"

int main() {
  constexpr float kLearningRate = 0.2F;
  const std::vector<Sample> samples = draw_samples(20'000);
  std::vector<float> weights(kFeatures);  // the model
  double last_loss = 0;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    double loss = 0;
    for (const Sample& sample : samples) {
      float error = -sample.label;
      for (const lapse::Key feature : sample.features) error += weights[feature.index()];
      for (const lapse::Key feature : sample.features) weights[feature.index()] -= kLearningRate * error;
      loss += error * error;
    }
    last_loss = loss / static_cast<double>(samples.size());
    std::printf("epoch %d: loss %.4f\n", epoch, last_loss);
  }
  return last_loss < 0.01 ? EXIT_SUCCESS : EXIT_FAILURE;
}

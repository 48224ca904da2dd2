// Models in the format of liblinear.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/linear_model/sample_data.hpp"
#include "apps/linear_model/trainer.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/files/output_file.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Two classes: a sample x is of the positive one if x . w > 0.
struct LinearModel {
  Loss loss = Loss::logistic;
  SampleForm form;
  SampleClasses classes;
  std::vector<double> weights;  // of form.keys() features
};

// Written at the end of a training: made before it, so that a path that cannot be written is noticed then.
// Used by one rank.
class LinearModelFile {
 public:
  // `first`: the number of the first feature in the file of samples, zero or one. Throws FileError.
  LinearModelFile(const std::string& path, const LinearTrainer& trainer, io::FirstFeature first);

  // Pulls the weights and writes the file, and its description (ModelDescription). Not collective. Throws
  // FileError.
  void write(Worker& worker, const LinearTrainer& trainer);

 private:
  io::OutputFile file_;
  io::FirstFeature first_;
};

// liblinear-train's models of two classes with a logistic or hinge
// loss can be read, too. Throws FileError with the line for another type, another number of classes, lines
// that are missing, unknown, or no finite numbers, and for fewer or more weights than features.
LinearModel read_model(const io::Input& input);

// Collective: every rank reads the model.
LinearModel load_model(ParameterServer& server, const std::string& file);

}  // namespace lapse::apps

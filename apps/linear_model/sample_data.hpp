// The files of samples of a linear model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/linear_model/worker_samples.hpp"
#include "lapse/io/samples/svm_file.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

struct SampleOptions {
  std::string file;
  io::FirstFeature first_feature = io::FirstFeature::found;
  double bias = 0;  // SampleForm
};

// Two classes of samples.
struct SampleClasses {
  double positive = 1;
  double negative = -1;
};

struct TrainingSamples {
  io::SparseSamples samples;
  io::FirstFeature first_feature = io::FirstFeature::one;  // zero or one
  SampleForm form;
  SampleClasses classes;  // the larger label is positive
};

// Collective: reads a file, of which each rank keeps the samples of its workers (part_of_rank). `first`: the
// number of its first feature.
io::SvmFile load_samples(ParameterServer& server, const std::string& file, io::FirstFeature first,
                         const std::vector<std::int32_t>& workers);

// Collective, like load_samples. Throws FileError unless the samples have two labels, and some of them
// features.
TrainingSamples load_training_samples(ParameterServer& server, const SampleOptions& options,
                                      const std::vector<std::int32_t>& workers);

// Collective, like load_samples. Throws FileError for a label that is none of the classes.
io::SparseSamples load_test_samples(ParameterServer& server, const std::string& file, io::FirstFeature first,
                                    const SampleClasses& classes, const std::vector<std::int32_t>& workers);

}  // namespace lapse::apps

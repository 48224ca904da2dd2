// The weights that a training takes from a trained model.
#pragma once

#include <string>

#include "apps/linear_model/model_file.hpp"
#include "apps/linear_model/trainer.hpp"

namespace lapse::apps {

// The model's weights by the features of this training, as LinearTrainer::set_initial expects them; 0 for
// features that the model lacks. `file`: for messages. Throws ConfigurationError for a model of other labels
// or another bias.
InitialWeights known_weights(const LinearModel& model, const std::string& file, const SampleForm& form,
                             const SampleClasses& classes);

// If the model has a description, throws ConfigurationError unless its features are counted from `first`,
// zero or one. Throws FileError for a damaged description.
void check_first_feature(const std::string& file, io::FirstFeature first);

}  // namespace lapse::apps

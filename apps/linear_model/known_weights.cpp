#include "apps/linear_model/known_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "apps/common/model_description.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {
constexpr std::string_view kOption = "--initial";
}  // namespace

InitialWeights known_weights(const LinearModel& model, const std::string& file, const SampleForm& form,
                             const SampleClasses& classes) {
  const auto labels = [](const SampleClasses& two) {
    return fmt::format("{} and {}", two.positive, two.negative);
  };
  const bool is_same =
      model.classes.positive == classes.positive && model.classes.negative == classes.negative;
  const bool is_exchanged =
      model.classes.positive == classes.negative && model.classes.negative == classes.positive;
  if (!is_same && !is_exchanged) {
    throw ConfigurationError(fmt::format("{}: the labels of {} are {}, but those of the samples are {}",
                                         kOption, file, labels(model.classes), labels(classes)));
  }
  if (model.form.bias != form.bias) {
    throw ConfigurationError(
        fmt::format("{}: {} has a bias of {}, but --bias is {}", kOption, file, model.form.bias, form.bias));
  }
  InitialWeights known{.weights = std::vector<double>(form.keys()),
                       .known = std::min(model.form.features, form.features)};
  std::copy_n(model.weights.begin(), known.known, known.weights.begin());
  if (form.bias != 0) known.weights.back() = model.weights.back();
  // liblinear's first label is that of the first sample, except for -1 and 1.
  if (is_exchanged)
    for (double& weight : known.weights) weight = -weight;
  return known;
}

void check_first_feature(const std::string& file, io::FirstFeature first) {
  if (!std::filesystem::exists(file + ".json")) return;
  const std::uint64_t of_model = ModelDescription::read(file).count("first_feature");
  const std::uint64_t own = first == io::FirstFeature::zero ? 0 : 1;
  if (of_model == own) return;
  throw ConfigurationError(
      fmt::format("{}: features of {} are counted from {}, but those of the samples from {}: expected "
                  "--first-feature {}",
                  kOption, file, of_model, own, of_model));
}

}  // namespace lapse::apps

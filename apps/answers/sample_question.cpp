#include "apps/answers/sample_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lapse/io/text/text_fields.hpp"

namespace lapse::apps {

namespace {

struct FeatureOfSample {
  std::uint64_t feature = 0;
  double value = 0;
};

FeatureOfSample parse_feature(std::string_view text) {
  FeatureOfSample parsed;
  const char* const end = text.data() + text.size();
  const auto feature = std::from_chars(text.data(), end, parsed.feature);
  if (feature.ec == std::errc() && feature.ptr != end && *feature.ptr == ':') {
    const auto value = std::from_chars(feature.ptr + 1, end, parsed.value);
    if (value.ec == std::errc() && value.ptr == end && std::isfinite(parsed.value)) return parsed;
  }
  throw QueryError(fmt::format("'{}', expected a feature and its value, as 7:0.5", io::shown(text)));
}

}  // namespace

SampleQuestion::SampleQuestion(const ModelDescription& model)
    : model_(read_model(model.path_of("model"))), first_feature_(model.count("first_feature")) {}

std::vector<Scored> SampleQuestion::answer(std::span<const std::string_view> query) const {
  const SampleForm& form = model_.form;
  double product = form.bias != 0 ? form.bias * model_.weights.back() : 0;
  for (const std::string_view text : query) {
    const FeatureOfSample each = parse_feature(text);
    if (each.feature < first_feature_)
      throw QueryError(fmt::format("'{}', expected a feature from {}", io::shown(text), first_feature_));
    const std::uint64_t key = each.feature - first_feature_;
    if (key < form.features) product += each.value * model_.weights[key];
  }
  const bool is_logistic = model_.loss == Loss::logistic;
  const auto value = [&](double signed_product) {
    return is_logistic ? -LogisticLoss::slope(-signed_product) : signed_product;
  };
  std::vector<Scored> classes{{fmt::format("{}", model_.classes.positive), value(product)},
                              {fmt::format("{}", model_.classes.negative), value(-product)}};
  if (!(product > 0)) std::swap(classes[0], classes[1]);
  return classes;
}

}  // namespace lapse::apps

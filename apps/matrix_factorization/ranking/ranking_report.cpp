#include "apps/matrix_factorization/ranking/ranking_report.hpp"

#include <fmt/format.h>

#include <array>

namespace lapse::apps {

namespace {

struct NamedMeasure {
  std::string name;   // in JSON
  std::string label;  // in text
  double value;
};

std::array<NamedMeasure, 5> measures_of(const RankingQuality& quality, std::size_t top) {
  const auto at_top = [&](const char* name, const char* label, double value) {
    return NamedMeasure{fmt::format("{}_at_{}", name, top), fmt::format("{}@{}", label, top), value};
  };
  return {at_top("ndcg", "NDCG", quality.ndcg), at_top("map", "MAP", quality.average_precision),
          at_top("recall", "recall", quality.recall), at_top("precision", "precision", quality.precision),
          NamedMeasure{"auc", "AUC", quality.auc}};
}

}  // namespace

std::string describe(const RankingQuality& quality, std::size_t top) {
  std::string text;
  if (quality.users == 0) return text;
  for (const NamedMeasure& measure : measures_of(quality, top))
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : "  ", measure.label, measure.value);
  return text;
}

std::string quality_json(const RankingQuality& quality, std::size_t top) {
  std::string json;
  for (const NamedMeasure& measure : measures_of(quality, top))
    json += fmt::format(", \"test_{}\": {}", measure.name,
                        quality.users == 0 ? "null" : json_number(measure.value));
  return json;
}

void add_quality(Summary& summary, std::string_view prefix, const RankingQuality& quality, std::size_t top,
                 bool shown) {
  if (quality.users == 0) return;
  for (const NamedMeasure& measure : measures_of(quality, top))
    summary.add(std::string(prefix) + measure.name, measure.value, shown ? "  test " + measure.label : "");
}

}  // namespace lapse::apps

#include "apps/report/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/common/summary.hpp"
#include "lapse/core/file_error.hpp"

namespace lapse::apps {

namespace {

using SummaryJson = nlohmann::ordered_json;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxDepth = 8;  // of objects in an epoch; deeper ones are left out

// Texts that describe the run; they are no results.
constexpr std::string_view kCommandName = "command";
constexpr std::string_view kVersionName = "version";
constexpr std::string_view kDataName = "data";
constexpr std::string_view kEndedName = "ended";

std::string text_in(const SummaryJson& json, std::string_view name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class HistoryReader {
 public:
  explicit HistoryReader(std::size_t epochs) : epochs_(epochs) {}

  void read(const SummaryJson& object, std::size_t epoch, const std::string& prefix = {}, int depth = 0) {
    for (const auto& [key, value] : object.items()) {
      const std::string name = prefix + key;
      if (value.is_number()) {
        series_of(name).values[epoch] = value.get<double>();
      } else if (value.is_null()) {
        series_of(name);
      } else if (value.is_object() && depth < kMaxDepth) {
        read(value, epoch, name + " ", depth + 1);
      }
    }
  }

  RunHistory history() && {
    RunHistory history;
    const auto own = std::ranges::find(series_, "epoch", &RunSeries::name);
    if (own != series_.end()) {
      const auto is_step = [](double before, double after) { return !(before < after); };
      if (std::ranges::adjacent_find(own->values, is_step) == own->values.end() &&
          std::ranges::all_of(own->values, [](double epoch) { return std::isfinite(epoch); }))
        history.epochs = own->values;
      series_.erase(own);
    }
    for (std::size_t epoch = history.epochs.size(); epoch < epochs_; ++epoch)
      history.epochs.push_back(static_cast<double>(epoch + 1));
    // A name with nulls alone is no series.
    std::erase_if(series_, [](const RunSeries& series) {
      return std::ranges::none_of(series.values, [](double value) { return std::isfinite(value); });
    });
    history.series = std::move(series_);
    return history;
  }

 private:
  RunSeries& series_of(const std::string& name) {
    const auto found = std::ranges::find(series_, name, &RunSeries::name);
    if (found != series_.end()) return *found;
    return series_.emplace_back(RunSeries{name, std::vector<double>(epochs_, kNoNumber)});
  }

  std::size_t epochs_;
  std::vector<RunSeries> series_;
};

RunHistory history_of(const SummaryJson& json, const std::string& path) {
  const auto found = json.find("history");
  if (found == json.end()) return {};
  if (!found->is_array()) throw FileError(path, "is no summary of a run: its history is not an array");
  HistoryReader reader(found->size());
  for (std::size_t epoch = 0; epoch < found->size(); ++epoch) {
    const SummaryJson& object = (*found)[epoch];
    if (!object.is_object()) {
      throw FileError(
          path, fmt::format("is no summary of a run: entry {} of its history is not an object", epoch + 1));
    }
    reader.read(object, epoch);
  }
  return std::move(reader).history();
}

std::vector<RunResult> results_of(const SummaryJson& json) {
  std::vector<RunResult> results;
  const SummaryJson::json_pointer ranks("/statistics/server/ranks");
  if (json.contains(ranks) && json.at(ranks).is_number())
    results.push_back({"ranks", json.at(ranks).get<double>()});
  for (const auto& [key, value] : json.items()) {
    if (key == kCommandName || key == kVersionName || key == kDataName || key == kEndedName) continue;
    if (value.is_number())
      results.push_back({key, value.get<double>()});
    else if (value.is_null())
      results.push_back({key, kNoNumber});
    else if (value.is_boolean())
      results.push_back({key, value.get<bool>() ? "yes" : "no"});
    else if (value.is_string())
      results.push_back({key, value.get<std::string>()});
  }
  return results;
}

}  // namespace

const RunSeries* RunHistory::find(std::string_view name) const {
  const auto found = std::ranges::find(series, name, &RunSeries::name);
  return found == series.end() ? nullptr : &*found;
}

std::vector<double> RunHistory::elapsed_seconds() const {
  const RunSeries* const seconds = find("seconds");
  std::vector<double> elapsed(epochs.size(), kNoNumber);
  double sum = 0;
  for (std::size_t epoch = 0; seconds != nullptr && epoch < epochs.size(); ++epoch)
    elapsed[epoch] = sum += seconds->values[epoch];
  return elapsed;
}

RunSummary parse_run_summary(std::string_view json, const std::string& path, std::string name) {
  try {
    const SummaryJson parsed = SummaryJson::parse(json);
    if (!parsed.is_object()) throw FileError(path, "is no summary of a run: it is not a JSON object");
    RunSummary run;
    run.name = std::move(name);
    run.command = text_in(parsed, kCommandName);
    run.version = text_in(parsed, kVersionName);
    run.data = text_in(parsed, kDataName);
    run.ended = text_in(parsed, kEndedName);
    run.results = results_of(parsed);
    run.history = history_of(parsed, path);
    return run;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(path, fmt::format("is no summary of a run: {}", error.what()));
  }
}

RunSummary read_run_summary(const std::string& path, std::string name) {
  return parse_run_summary(read_text_file(path), path, std::move(name));
}

}  // namespace lapse::apps

#include "apps/word_vectors/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "apps/common/management_report.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/core/statistics/json.hpp"

namespace lapse::apps {

namespace {

std::string epochs_json(const Trainer& trainer) {
  std::string json = "[";
  for (const EpochRecord& record : trainer.epochs()) {
    json += fmt::format(R"({}
    {{"epoch": {}, "loss": {}, "words": {}, "seconds": {}, "local_share": {}}})",
                        json.size() == 1 ? "" : ",", record.epoch, json_number(record.loss), record.words,
                        json_number(record.cost.seconds), json_number(local_share(record.cost.accesses)));
  }
  return json + "]";
}

std::string shown_score(const AnalogyScore& score) {
  return fmt::format("{:.2f} %  ({} of {})", 100 * score.accuracy(), score.correct, score.answered);
}

std::string sections_json(const AnalogyResult& result) {
  std::string json = "[";
  for (std::size_t i = 0; i < result.sections.size(); ++i) {
    json += fmt::format(R"({}
    {{"section": {}, "correct": {}, "answered": {}, "unknown": {}}})",
                        json.size() == 1 ? "" : ",", json_string(result.sections[i].name),
                        result.scores[i].correct, result.scores[i].answered, result.sections[i].unknown);
  }
  return json + "]";
}

void add_analogies(Summary& summary, const AnalogyResult& result) {
  const auto add = [&](std::string_view name, const AnalogyScore& score, std::string_view label) {
    summary.add(name, score.accuracy(), label, shown_score(score));
  };
  add("analogy_accuracy", result.total(), "analogies");
  add("analogy_accuracy_semantic", result.semantic(), "  semantic");
  add("analogy_accuracy_syntactic", result.syntactic(), "  syntactic");
  summary.add("analogies_answered", static_cast<std::uint64_t>(result.total().answered));
  summary.add("analogies_unknown", result.unknown, "  with unknown words");
  summary.add_json("analogy_sections", sections_json(result));
}

}  // namespace

std::string describe(const Corpus& corpus, std::uint64_t min_count) {
  return fmt::format("{} words, {} different ones that occur {} times or more", corpus.occurrences,
                     corpus.words.size(), min_count);
}

std::string describe(const EpochRecord& record) {
  return fmt::format("epoch {:3}  loss {:8.5f}  {:9.3f} s  {:9.0f} words/s  local {:6.2f} %", record.epoch,
                     record.loss, record.cost.seconds, record.words_per_second(),
                     100 * local_share(record.cost.accesses));
}

std::string describe(std::uint64_t epoch, const EpochProgress& progress, const Corpus& corpus,
                     double seconds) {
  const double words = static_cast<double>(progress.words);
  return fmt::format("epoch {:3}  about {:3.0f} %  loss {:8.5f}  {:9.3f} s  {:9.0f} words/s", epoch,
                     100 * std::min(1.0, words / static_cast<double>(corpus.occurrences)),
                     progress.loss.mean(), seconds, words / seconds);
}

void add_training(Summary& summary, const Trainer& trainer, adapm::Technique technique,
                  const adapm::Statistics& statistics) {
  PhaseCost total;
  std::uint64_t words = 0;
  for (const EpochRecord& record : trainer.epochs()) {
    total += record.cost;
    words += record.words;
  }
  const std::uint64_t epochs = trainer.epochs().size();
  summary.add("workers", std::uint64_t{trainer.workers()}, "workers");
  summary.add("epochs", epochs, "epochs");
  if (epochs != 0) summary.add("loss", trainer.epochs().back().loss, "loss");
  const double rate = total.seconds > 0 ? static_cast<double>(words) / total.seconds : 0;
  summary.add("words_per_second", rate, "words", fmt::format("{:.0f} /s", rate));
  const double of_worker = rate / static_cast<double>(trainer.workers());
  summary.add("words_per_second_and_worker", of_worker, "  of a worker", fmt::format("{:.0f} /s", of_worker));
  add_costs(summary, total, epochs);
  add_management(summary, technique, total, statistics, epochs);
  summary.add_json("history", epochs_json(trainer));
  summary.add_json("statistics", statistics.to_json());
}

void add_evaluation(Summary& summary, const Evaluation& evaluation) {
  if (evaluation.analogies) add_analogies(summary, *evaluation.analogies);
  if (evaluation.similarity) {
    const auto& similarity = *evaluation.similarity;
    summary.add("word_similarity", similarity.correlation, "word similarity",
                fmt::format("{:.4f}  ({} pairs)", similarity.correlation, similarity.pairs));
    summary.add("word_similarity_unknown", similarity.unknown, "  pairs with unknown words");
  }
  summary.add("evaluation_seconds", evaluation.seconds, "evaluated in",
              fmt::format("{:.2f} s", evaluation.seconds));
}

}  // namespace lapse::apps

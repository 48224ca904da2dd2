#include "apps/topic_model/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "apps/common/management_report.hpp"
#include "apps/topic_model/topic_list.hpp"

namespace lapse::apps {

namespace {

double tokens_per_second(std::uint64_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

std::string numbers_json(const std::vector<double>& numbers) {
  std::string json = "[";
  for (const double number : numbers) json += (json.size() == 1 ? "" : ", ") + json_number(number);
  return json + "]";
}

std::string priors_json(const TopicEpoch& record) {
  if (!record.priors) return "";
  return fmt::format(R"("all_alpha": {}, "beta": {}, "optimization_seconds": {}, )",
                     json_number(record.priors->all_alpha), json_number(record.priors->beta),
                     json_number(record.priors->seconds));
}

std::string epochs_json(const TopicTrainer& trainer) {
  std::string json = "[";
  for (const TopicEpoch& record : trainer.epochs()) {
    json +=
        fmt::format(R"({}
    {{"epoch": {}, "likelihood": {}, {}{}"seconds": {}, "local_share": {}}})",
                    json.size() == 1 ? "" : ",", record.epoch,
                    record.likelihood ? json_number(*record.likelihood) : "null",
                    record.held_out ? fmt::format(R"("held_out": {}, )", json_number(*record.held_out)) : "",
                    priors_json(record), json_number(record.cost.seconds),
                    json_number(local_share(record.cost.accesses)));
  }
  return json + "]";
}

}  // namespace

std::string describe(const TopicTrainer& trainer) {
  const TopicPriors& priors = trainer.priors();
  return fmt::format("{} documents, {} tokens of {} different words; {} topics, alpha {:g}, beta {:g}",
                     trainer.documents(), trainer.tokens(), priors.words, priors.topics(),
                     priors.all_alpha() / static_cast<double>(priors.topics()), priors.beta);
}

std::string describe(const TopicEpoch& record, std::uint64_t tokens) {
  std::string text = fmt::format("epoch {:4}  {:9.4f} s  {:10.0f} tokens/s  local {:6.2f} %", record.epoch,
                                 record.cost.seconds, tokens_per_second(tokens, record.cost.seconds),
                                 100 * local_share(record.cost.accesses));
  if (record.priors)
    text += fmt::format("  alpha {:.4g} in all, beta {:.4g}", record.priors->all_alpha, record.priors->beta);
  if (record.likelihood) text += fmt::format("  likelihood {:.5f}", *record.likelihood);
  if (record.held_out) text += fmt::format("  held out {:.5f}", *record.held_out);
  return text;
}

void add_coherence(Summary& summary, const std::vector<TopicWords>& topics, std::size_t words) {
  const std::optional<double> mean = mean_coherence(topics);
  if (!mean) return;
  summary.add("coherence", *mean, "coherence", fmt::format("{:.4f} NPMI of {} words", *mean, words));
  std::string json = "[";
  for (const TopicWords& topic : topics) {
    json += json.size() == 1 ? "" : ", ";
    json += topic.coherence ? json_number(*topic.coherence) : "null";
  }
  summary.add_json("coherences", json + "]");
}

void add_training(Summary& summary, const TopicTrainer& trainer, adapm::Technique technique,
                  const adapm::Statistics& statistics) {
  PhaseCost total;
  for (const TopicEpoch& record : trainer.epochs()) total += record.cost;
  const std::uint64_t epochs = trainer.epochs().size();
  summary.add("workers", std::uint64_t{trainer.workers()}, "workers");
  summary.add("epochs", epochs, "epochs");
  if (epochs != 0 && trainer.epochs().back().likelihood) {
    const double likelihood = *trainer.epochs().back().likelihood;
    summary.add("likelihood", likelihood, "likelihood", fmt::format("{:.5f} of a token", likelihood));
  }
  if (epochs != 0 && trainer.epochs().back().held_out) {
    const double held_out = *trainer.epochs().back().held_out;
    summary.add("held_out", held_out, "held out", fmt::format("{:.5f} of a token", held_out));
    const double perplexity = std::exp(-held_out);
    summary.add("perplexity", perplexity, "  perplexity", fmt::format("{:.1f}", perplexity));
  }
  const TopicPriors& priors = trainer.priors();
  summary.add("all_alpha", priors.all_alpha(), "alpha", fmt::format("{:.4g} in all", priors.all_alpha()));
  summary.add("beta", priors.beta, "beta", fmt::format("{:.4g}", priors.beta));
  summary.add_json("alpha", numbers_json(priors.alpha));
  const double rate = tokens_per_second(epochs * trainer.tokens(), total.seconds);
  summary.add("tokens_per_second", rate, "tokens", fmt::format("{:.0f} /s", rate));
  const double of_worker = rate / static_cast<double>(trainer.workers());
  summary.add("tokens_per_second_and_worker", of_worker, "  of a worker",
              fmt::format("{:.0f} /s", of_worker));
  add_costs(summary, total, epochs);
  add_management(summary, technique, total, statistics, epochs);
  summary.add_json("history", epochs_json(trainer));
  summary.add_json("statistics", statistics.to_json());
}

}  // namespace lapse::apps

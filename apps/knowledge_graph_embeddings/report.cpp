#include "apps/knowledge_graph_embeddings/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "apps/common/management_report.hpp"

namespace lapse::apps {

namespace {

double triples_per_second(std::uint64_t epochs, double seconds, const KnowledgeGraph& graph) {
  return seconds > 0 ? static_cast<double>(epochs * graph.train.size()) / seconds : 0;
}

std::string json_object(const RankingMetrics& metrics) {
  return fmt::format(R"({{"ranks": {}, "mrr": {}, "hits_at_1": {}, "hits_at_3": {}, "hits_at_10": {}}})",
                     metrics.ranks, json_number(metrics.mean_reciprocal_rank), json_number(metrics.hits_at_1),
                     json_number(metrics.hits_at_3), json_number(metrics.hits_at_10));
}

std::string json_object(const SplitMetrics& metrics) {
  return fmt::format(R"({{"all": {}, "seen_entities": {}}})", json_object(metrics.all),
                     json_object(metrics.seen));
}

std::string epochs_json(const Trainer& trainer) {
  std::string json = "[";
  for (const EpochRecord& record : trainer.epochs()) {
    json += fmt::format(R"({}
    {{"epoch": {}, "loss": {}, "seconds": {}, "local_share": {})",
                        json.size() == 1 ? "" : ",", record.epoch, json_number(record.loss),
                        json_number(record.cost.seconds), json_number(local_share(record.cost.accesses)));
    if (record.evaluation) {
      json += fmt::format(R"(, "evaluation_seconds": {}, "valid": {}, "test": {})",
                          json_number(record.evaluation->seconds), json_object(record.evaluation->valid),
                          json_object(record.evaluation->test));
    }
    json += "}";
  }
  return json + "]";
}

void add_metrics(Summary& summary, std::string_view split, const SplitMetrics& metrics) {
  if (metrics.all.ranks == 0) return;
  const auto add = [&](std::string_view name, double value, std::string_view label) {
    summary.add(fmt::format("{}_{}", split, name), value, fmt::format("  {} {}", split, label));
  };
  add("mrr", metrics.all.mean_reciprocal_rank, "MRR");
  add("hits_at_1", metrics.all.hits_at_1, "Hits@1");
  add("hits_at_3", metrics.all.hits_at_3, "Hits@3");
  add("hits_at_10", metrics.all.hits_at_10, "Hits@10");
  if (metrics.seen.ranks != metrics.all.ranks) {
    add("mrr_seen_entities", metrics.seen.mean_reciprocal_rank, "MRR without unseen entities");
  }
}

}  // namespace

std::string describe(const KnowledgeGraph& graph) {
  std::string text =
      fmt::format("{} entities, {} relations, {} triples to train on, {} valid, {} test", graph.entities,
                  graph.relations, graph.train.size(), graph.valid.size(), graph.test.size());
  const std::uint64_t unseen_valid = graph.unseen(graph.valid);
  const std::uint64_t unseen_test = graph.unseen(graph.test);
  if (unseen_valid + unseen_test != 0) {
    text += fmt::format("\nwith an entity that no training triple has: {} valid, {} test triples",
                        unseen_valid, unseen_test);
  }
  return text;
}

std::string describe_data(const KnowledgeGraph& graph) {
  std::string text;
  for (const std::string& layout : graph.layouts) text += layout + "\n";
  text += describe(graph) + "\n";
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> triples;
  triples.reserve(graph.train.size());
  for (const Triple& triple : graph.train)
    triples.emplace_back(triple.subject, triple.relation, triple.object);
  std::ranges::sort(triples);
  const auto repeated = triples.end() - std::unique(triples.begin(), triples.end());
  text += fmt::format("{} triples to train on occur before\n", repeated);
  if (graph.entity_names.empty()) return text;
  constexpr std::size_t kShownTriples = 5;
  for (const Triple& triple : std::span(graph.train).first(std::min(kShownTriples, graph.train.size()))) {
    text += fmt::format("subject '{}', relation '{}', object '{}'\n", graph.entity_names.name(triple.subject),
                        graph.relation_names.name(triple.relation), graph.entity_names.name(triple.object));
  }
  return text;
}

std::string describe(const EpochRecord& record, const KnowledgeGraph& graph) {
  const double seconds = record.cost.seconds;
  std::string text = fmt::format("epoch {:3}  loss {:8.5f}  {:9.5f} s  {:7.0f} triples/s  local {:6.2f} %",
                                 record.epoch, record.loss, seconds, triples_per_second(1, seconds, graph),
                                 100 * local_share(record.cost.accesses));
  if (record.evaluation) {
    const Evaluation& evaluation = *record.evaluation;
    if (evaluation.valid.all.ranks != 0)
      text += fmt::format("  valid MRR {:.4f}", evaluation.valid.all.mean_reciprocal_rank);
    if (evaluation.test.all.ranks != 0)
      text += fmt::format("  test MRR {:.4f}", evaluation.test.all.mean_reciprocal_rank);
    text += fmt::format("  (in {:.2f} s)", evaluation.seconds);
  }
  return text;
}

Summary summarize(const Trainer& trainer, const KnowledgeGraph& graph, const adapm::Statistics& statistics) {
  PhaseCost total;
  for (const EpochRecord& record : trainer.epochs()) total += record.cost;
  const EpochRecord* const evaluated = trainer.evaluated();
  const std::uint64_t epochs = trainer.epochs().size();
  Summary summary;
  if (evaluated != nullptr && evaluated->evaluation) {
    summary.add("evaluated_epoch", evaluated->epoch, "after epoch");
    add_metrics(summary, "valid", evaluated->evaluation->valid);
    add_metrics(summary, "test", evaluated->evaluation->test);
  }
  summary.add("unseen_valid_triples", graph.unseen(graph.valid));
  summary.add("unseen_test_triples", graph.unseen(graph.test));
  summary.add("workers", std::uint64_t{trainer.partition().workers()}, "workers");
  const double imbalance = trainer.partition().imbalance();
  summary.add("imbalance", imbalance, "busiest worker",
              fmt::format("{:.3f} times the even share", imbalance));
  summary.add("epochs", epochs, "epochs");
  const double rate = triples_per_second(epochs, total.seconds, graph);
  summary.add("triples_per_second", rate, "triples", fmt::format("{:.0f} /s", rate));
  add_costs(summary, total, epochs);
  if (trainer.options().runner.mode == TrainingMode::intent)
    add_management(summary, trainer.technique(), total, statistics, epochs);
  summary.add_json("history", epochs_json(trainer));
  summary.add_json("statistics", statistics.to_json());
  return summary;
}

}  // namespace lapse::apps

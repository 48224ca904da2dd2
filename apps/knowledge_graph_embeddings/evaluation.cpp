#include "apps/knowledge_graph_embeddings/evaluation.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "apps/common/manager_program.hpp"
#include "apps/common/table_reader.hpp"

namespace lapse::apps {

namespace {

// Pulls this worker's part of a table into the rank's copy.
void gather(Worker& worker, const Table<float>& table, std::vector<float>& values) {
  const std::uint64_t first = table.keys() * worker.local_index() / worker.local_count();
  const std::uint64_t last = table.keys() * (worker.local_index() + 1) / worker.local_count();
  float* next = values.data() + first * table.length();
  read_keys(worker, table, first, last,
            [&](std::span<const float> batch) { next = std::copy(batch.begin(), batch.end(), next); });
}

}  // namespace

Evaluation Evaluator::evaluate(ParameterServer& server, std::int32_t workers, const EmbeddingTables& tables,
                               Splits splits) const {
  const auto begin = std::chrono::steady_clock::now();
  const auto room_for = [&](const Table<float>& table) {
    return make_on_every_rank(server, [&] { return std::vector<float>(table.keys() * table.length()); });
  };
  std::vector<float> entities = room_for(tables.entities);
  std::vector<float> relations = room_for(tables.relations);
  Evaluation evaluation;
  // Ranks without workers take part to receive the results.
  server.run_workers(std::max(1, workers), [&](Worker& worker) {
    gather(worker, tables.entities, entities);
    gather(worker, tables.relations, relations);
    worker.barrier();
    const EmbeddingValues values{entities, relations};
    const SplitMetrics valid = splits.valid ? evaluate(worker, graph_.valid, values) : SplitMetrics{};
    const SplitMetrics test = splits.test ? evaluate(worker, graph_.test, values) : SplitMetrics{};
    if (worker.local_index() == 0) evaluation = {valid, test, 0};
  });
  evaluation.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return evaluation;
}

SplitMetrics Evaluator::evaluate(Worker& worker, const std::vector<Triple>& split,
                                 const EmbeddingValues& values) const {
  std::vector<Triple> share;
  for (std::size_t i = worker.index(); i < split.size(); i += worker.count()) share.push_back(split[i]);
  const std::vector<double> ranks = Ranker(model_, form_, known_).ranks(share, values);
  RankingSums all;
  RankingSums seen;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Triple& triple = share[i / 2];
    all.add(ranks[i]);
    if (graph_.entity_seen[triple.subject] && graph_.entity_seen[triple.object]) seen.add(ranks[i]);
  }
  worker.all_reduce(all.values());
  worker.all_reduce(seen.values());
  return {all.metrics(), seen.metrics()};
}

}  // namespace lapse::apps

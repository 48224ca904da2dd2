#include "apps/knowledge_graph_embeddings/epoch_runner.hpp"

#include <algorithm>

#include "io/shuffle.hpp"

namespace lapse::apps {

EpochRunner::EpochRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      options_(options),
      loss_(task.model, options.l2),
      batcher_(task.graph, options.negatives),
      triples_(task.partition.triples(task.worker)) {
  // Entities are localized no later than they are pulled.
  options_.lookahead = std::max(options_.lookahead, options_.prefetch);
}

void EpochRunner::place(Worker& worker) {
  if (worker.local_index() != 0) return;
  std::vector<Key> keys;
  for (const std::uint32_t relation : task_.partition.relations(worker.rank())) keys.emplace_back(relation);
  worker.localize(task_.tables.relations, keys).wait();
}

double EpochRunner::run(Worker& worker, std::uint64_t epoch) {
  const std::uint64_t stream = 2 * (epoch * task_.partition.workers() + task_.worker);
  RandomEngine random(options_.seed, stream);
  io::shuffle(std::span(triples_), random);
  batcher_.seed(options_.seed, stream + 1);
  const std::size_t count = (triples_.size() + options_.batch - 1) / options_.batch;
  std::vector<TripleBatch> ring;
  for (std::size_t i = 0; i <= std::min(options_.lookahead, count); ++i)
    ring.emplace_back(task_.model, options_.negatives);
  const auto batch = [&](std::size_t number) -> TripleBatch& { return ring[number % ring.size()]; };
  std::size_t prepared = 0;
  std::size_t pulled = 0;
  double loss = 0;
  for (std::size_t trained = 0; trained < count; ++trained) {
    for (; prepared < std::min(count, trained + 1 + options_.lookahead); ++prepared)
      prepare(worker, prepared, batch(prepared));
    for (; pulled < std::min(count, trained + 1 + options_.prefetch); ++pulled)
      batch(pulled).pull(worker, task_.tables);
    loss += batch(trained).train(worker, task_.tables, loss_);
  }
  return loss;
}

void EpochRunner::prepare(Worker& worker, std::size_t number, TripleBatch& batch) {
  const std::size_t begin = number * options_.batch;
  const std::size_t size = std::min(options_.batch, triples_.size() - begin);
  batcher_.fill(batch, std::span(triples_).subspan(begin, size));
  if (localizes_entities(options_.mode) && worker.ranks() > 1) {
    static_cast<void>(worker.localize(task_.tables.entities, batch.entity_keys()));
  }
}

}  // namespace lapse::apps

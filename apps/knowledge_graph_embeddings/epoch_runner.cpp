#include "apps/knowledge_graph_embeddings/epoch_runner.hpp"

#include <algorithm>

#include "io/shuffle.hpp"

namespace lapse::apps {

EpochRunner::EpochRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      options_(options),
      announcement_(announcement_of(options.mode, task.technique)),
      // Embeddings are announced no later than they are pulled.
      lookahead_(std::max(
          options.prefetch,
          options.lookahead.value_or(announcement_ == Announcement::intent ? kSignalAhead : kLocalizeAhead))),
      loss_(task.model, options.l2),
      batcher_(task.graph, options.negatives),
      triples_(task.partition.triples(task.worker)) {}

EpochRunner::Announcement EpochRunner::announcement_of(TrainingMode mode, adapm::Technique technique) {
  if (localizes_entities(mode)) return Announcement::localize_entities;
  if (mode != TrainingMode::intent) return Announcement::none;
  return technique == adapm::Technique::localize ? Announcement::localize_all : Announcement::intent;
}

void EpochRunner::place(Worker& worker) {
  if (worker.local_index() != 0) return;
  std::vector<Key> keys;
  for (const std::uint32_t relation : task_.partition.relations(worker.rank())) keys.emplace_back(relation);
  worker.localize(task_.tables.relations, keys).wait();
}

double EpochRunner::run(adapm::Worker& worker, std::uint64_t epoch) {
  const std::uint64_t stream = 2 * (epoch * task_.partition.workers() + task_.worker);
  RandomEngine random(options_.seed, stream);
  io::shuffle(std::span(triples_), random);
  batcher_.seed(options_.seed, stream + 1);
  first_clock_ = worker.current_clock();
  const std::size_t count = (triples_.size() + options_.batch - 1) / options_.batch;
  std::vector<TripleBatch> batches(std::min(lookahead_, count) + 1);
  const auto batch = [&](std::size_t number) -> TripleBatch& { return batches[number % batches.size()]; };
  std::vector<BatchInFlight> in_flight;
  for (std::size_t i = 0; i <= std::min(options_.prefetch, count); ++i)
    in_flight.emplace_back(task_.model, options_.negatives);
  std::size_t prepared = 0;
  std::size_t pulled = 0;
  double loss = 0;
  for (std::size_t trained = 0; trained < count; ++trained) {
    for (; prepared < std::min(count, trained + 1 + lookahead_); ++prepared)
      prepare(worker, prepared, batch(prepared));
    for (; pulled < std::min(count, trained + 1 + options_.prefetch); ++pulled)
      in_flight[pulled % in_flight.size()].pull(worker, task_.tables, batch(pulled));
    loss += in_flight[trained % in_flight.size()].train(worker, task_.tables, loss_);
    if (announcement_ == Announcement::intent) worker.advance_clock();
  }
  return loss;
}

void EpochRunner::prepare(adapm::Worker& worker, std::size_t number, TripleBatch& batch) {
  const std::size_t begin = number * options_.batch;
  const std::size_t size = std::min(options_.batch, triples_.size() - begin);
  batcher_.fill(batch, std::span(triples_).subspan(begin, size));
  if (worker.ranks() == 1) return;
  switch (announcement_) {
    case Announcement::none:
      break;
    case Announcement::localize_all:
      static_cast<void>(worker.localize(task_.tables.relations, batch.relations()));
      [[fallthrough]];
    case Announcement::localize_entities:
      static_cast<void>(worker.localize(task_.tables.entities, batch.entities()));
      break;
    case Announcement::intent: {
      // From the pull to the push.
      const std::size_t pulled = number - std::min(number, options_.prefetch);
      const Clock start(first_clock_.value() + static_cast<std::int64_t>(pulled));
      const Clock end(first_clock_.value() + static_cast<std::int64_t>(number + 1));
      worker.intent(task_.tables.entities, batch.entities(), start, end);
      worker.intent(task_.tables.relations, batch.relations(), start, end);
    }
  }
}

}  // namespace lapse::apps

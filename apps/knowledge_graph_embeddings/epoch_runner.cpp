#include "apps/knowledge_graph_embeddings/epoch_runner.hpp"

#include <algorithm>
#include <deque>

#include "lapse/io/loading/prefetching_loader.hpp"
#include "lapse/io/loading/shuffle.hpp"

namespace lapse::apps {

namespace {

// Batches made ahead of their use, so that the worker does not wait for them.
constexpr std::size_t kMadeAhead = 16;

Clock after(Clock clock, std::size_t batches) {
  return Clock(clock.value() + static_cast<std::int64_t>(batches));
}

}  // namespace

std::size_t lookahead_of(const RunnerOptions& options, bool signals) {
  const std::size_t large_ahead =
      options.negatives.sharing == NegativeSharing::all ? kSignalLargeAhead : kSignalAhead;
  return std::max(options.prefetch, options.lookahead.value_or(signals ? large_ahead : kLocalizeAhead));
}

EpochRunner::EpochRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      options_(options),
      announcement_(task.partition.ranks() == 1 ? Announcement::none
                                                : announcement_of(options.mode, task.technique)),
      lookahead_(lookahead_of(options, signals())),
      training_(task.model, options.loss),
      batcher_(task.graph, task.form, options.negatives),
      triples_(task.partition.triples(task.worker)) {}

EpochRunner::Announcement EpochRunner::announcement_of(TrainingMode mode, adapm::Technique technique) {
  if (localizes_entities(mode)) return Announcement::localize_entities;
  if (mode != TrainingMode::intent) return Announcement::none;
  return technique == adapm::Technique::localize ? Announcement::localize_all : Announcement::intent;
}

void EpochRunner::place(Worker& worker) {
  if (worker.local_index() != 0) return;
  std::vector<Key> keys;
  for (const std::uint32_t relation : task_.partition.relations(worker.rank())) {
    keys.emplace_back(relation);
    if (task_.form.reciprocal()) keys.emplace_back(task_.form.inverse(relation));
  }
  worker.localize(task_.tables.relations, keys).wait();
}

void EpochRunner::arrange(std::uint64_t epoch) {
  for (; epochs_arranged_ <= epoch; ++epochs_arranged_) {
    RandomEngine random(options_.seed, stream(epochs_arranged_));
    io::shuffle(std::span(triples_), random);
  }
}

void EpochRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, float rate, Position& position,
                      const ShallLeave& shall_leave) {
  arrange(epoch);
  epoch_ = epoch;
  training_.rate = rate;
  const std::size_t begin = position.batches;
  // The clock of batch 0, which may be before this call.
  const Clock first(worker.current_clock().value() - static_cast<std::int64_t>(begin));
  if (signals() && uses_all_entities()) {
    const adapm::KeyRange all{Key(0), Key(task_.graph.entities)};
    worker.intent(task_.tables.entities, all, worker.current_clock(), after(first, batches()));
  }
  const std::size_t prefetch = options_.batches_pulled_ahead();
  const std::size_t ahead = localizes() ? lookahead_ : prefetch;  // batches that the worker holds
  io::PrefetchingLoader<TripleBatch> loader(
      {.ahead = signals() ? std::max<std::size_t>(1, lookahead_) : kMadeAhead, .held = ahead + 1},
      [&, intents = worker.loader()](TripleBatch& batch, std::uint64_t number) {
        if (begin + number >= batches()) return false;
        make(batch, begin + number, intents, first);
        return true;
      });
  std::vector<BatchInFlight> in_flight;
  for (std::size_t i = 0; i <= std::min(prefetch, batches()); ++i)
    in_flight.emplace_back(task_.model, task_.form, options_.negatives);
  std::deque<TripleBatch*> held;  // to be trained
  std::size_t taken = begin;
  std::size_t pulled = begin;
  AgreedRounds rounds(worker, options_.deterministic);
  for (std::size_t& trained = position.batches; rounds.next(trained < batches(), shall_leave);) {
    for (; taken < std::min(batches(), trained + 1 + ahead); ++taken) {
      held.push_back(loader.next());
      if (localizes()) localize(worker, *held.back());
    }
    for (; pulled < std::min(batches(), trained + 1 + prefetch); ++pulled) {
      TripleBatch& batch = *held[pulled - trained];
      if (batch.sample) draw_negatives(worker, batch);
      in_flight[pulled % in_flight.size()].pull(worker, task_.tables, batch);
    }
    BatchInFlight& batch = in_flight[trained % in_flight.size()];
    if (trained < batches()) batch.wait();
    rounds.all_have_read();
    if (trained < batches()) {
      training_.seed(~batch_seed(trained), stream(epoch));
      position.loss += batch.compute(training_);
    }
    rounds.in_turn([&] {
      if (trained < batches()) batch.push(worker, task_.tables, training_);
    });
    if (trained == batches()) continue;
    held.pop_front();
    ++trained;
    if (signals()) worker.advance_clock();
  }
}

void EpochRunner::make(TripleBatch& batch, std::size_t number, const adapm::IntentHandle& intents,
                       Clock first) {
  const std::size_t begin = number * options_.batch;
  batch.triples = std::span(triples_).subspan(begin, std::min(options_.batch, triples_.size() - begin));
  // Batches between their pull and their push.
  const Clock start = after(first, number - std::min(number, options_.batches_pulled_ahead()));
  const Clock end = after(first, number + 1);
  if (task_.sampler == nullptr) {
    batcher_.seed(batch_seed(number), stream(epoch_) + 1);
    batcher_.fill(batch);
  } else {
    batcher_.collect(batch);
    batch.sample = intents.prepare_sample(*task_.sampler, batcher_.count(batch.triples.size()), start, end);
  }
  if (signals()) signal(batch, intents, start, end);
}

void EpochRunner::signal(const TripleBatch& batch, const adapm::IntentHandle& intents, Clock start,
                         Clock end) const {
  if (!uses_all_entities()) intents.intent(task_.tables.entities, batch.entities(), start, end);
  intents.intent(task_.tables.relations, batch.relations(), start, end);
}

void EpochRunner::localize(adapm::IntentWorker& worker, const TripleBatch& batch) const {
  static_cast<void>(worker.localize(task_.tables.entities, batch.entities()));
  if (announcement_ == Announcement::localize_all)
    static_cast<void>(worker.localize(task_.tables.relations, batch.relations()));
}

void EpochRunner::draw_negatives(adapm::IntentWorker& worker, TripleBatch& batch) {
  negatives_.resize(batch.sample->left());
  worker.take_keys(*batch.sample, negatives_);
  batch.sample.reset();
  batcher_.fill(batch, negatives_);
}

}  // namespace lapse::apps

#include "apps/word_vectors/epoch_runner.hpp"

#include <algorithm>
#include <deque>

#include "io/prefetching_loader.hpp"

namespace lapse::apps {

namespace {

// Of the rate at the start: the least that it falls to, as in word2vec.
constexpr double kLeastRate = 1e-4;

}  // namespace

EpochRunner::EpochRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      options_(options),
      shuffle_(options.shuffle),
      batcher_(task.corpus, task.subsampling, options.windows),
      placer_(task.corpus.words.size()),
      skip_gram_(task.tables.inputs.length()),
      inputs_(task.tables.inputs.length()),
      outputs_(task.tables.outputs.length()) {}

EpochProgress EpochRunner::run(adapm::Worker& worker, std::uint64_t epoch, const OnProgress& on_progress) {
  const std::uint64_t stream = 3 * (epoch * task_.workers + task_.worker);
  SentenceReader reader(
      task_.corpus, {static_cast<std::uint32_t>(task_.worker), static_cast<std::uint32_t>(task_.workers)});
  shuffle_.restart(RandomEngine(options_.seed, stream));
  const auto read = [&](Sentence& sentence) { return reader.next(sentence); };
  batcher_.restart([&](Sentence& sentence) { return shuffle_.next(sentence, read); },
                   RandomEngine(options_.seed, stream + 1));
  random_ = RandomEngine(options_.seed, stream + 2);

  // Where keys may be remote, the first are on their way while the loader makes the batches behind them.
  io::PrefetchingLoader<WindowBatch> loader(
      {.ahead = options_.lookahead,
       .ahead_of_first = worker.ranks() == 1 ? 1 : (options_.lookahead + 1) / 2,
       .held = localizes() ? kLocalizeAhead + 1 : 1},
      [this, intents = worker.loader(), first = worker.current_clock()](WindowBatch& batch,
                                                                        std::uint64_t number) {
        return make(batch, intents, Clock(first.value() + static_cast<std::int64_t>(number)));
      });
  const auto next = [&] {
    WindowBatch* const batch = loader.next();
    if (batch != nullptr && localizes()) localize(worker, *batch);
    return batch;
  };
  std::deque<WindowBatch*> held;  // to be trained
  for (std::size_t i = 0; localizes() && i < kLocalizeAhead; ++i) held.push_back(next());
  EpochProgress progress;
  for (;;) {
    held.push_back(next());
    WindowBatch* const batch = held.front();
    if (batch == nullptr) break;
    held.pop_front();
    progress.loss += train(worker, *batch, rate(epoch, progress.words));
    progress.words += batch->words;
    worker.advance_clock();
    if (on_progress) on_progress(progress);
  }
  return progress;
}

bool EpochRunner::make(WindowBatch& batch, const adapm::IntentHandle& intents, Clock clock) {
  if (!batcher_.fill(batch)) return false;
  const Clock end(clock.value() + 1);
  if (task_.sampler == nullptr) {
    drawn_.resize(batch.draws);
    task_.noise.draw(random_, drawn_);
    placer_.place(batch, drawn_);
    return true;
  }
  if (batch.draws != 0) batch.sample = intents.prepare_sample(*task_.sampler, batch.draws, clock, end);
  intents.intent(task_.tables.inputs, batch.input_keys, clock, end);
  intents.intent(task_.tables.outputs, batch.output_keys, clock, end);
  return true;
}

void EpochRunner::localize(adapm::Worker& worker, const WindowBatch& batch) const {
  if (worker.ranks() == 1) return;
  static_cast<void>(worker.localize(task_.tables.inputs, batch.input_keys));
  static_cast<void>(worker.localize(task_.tables.outputs, batch.output_keys));
}

LossSum EpochRunner::train(adapm::Worker& worker, WindowBatch& batch, float rate) {
  if (batch.sample) {
    drawn_.resize(batch.sample->left());
    worker.take_keys(*batch.sample, drawn_);
    batch.sample.reset();
    placer_.place(batch, drawn_);
  }
  Operation pull = inputs_.pull(worker, task_.tables.inputs, batch.input_keys);
  outputs_.pull(worker, task_.tables.outputs, batch.output_keys).wait();
  pull.wait();
  LossSum loss;
  if (options_.optimiser == Optimiser::sgd) {
    inputs_.keep_copy();
    outputs_.keep_copy();
    loss = skip_gram_.descend(batch, rate, inputs_.values(), outputs_.values());
    inputs_.push_differences(worker, task_.tables.inputs, batch.input_keys);
    outputs_.push_differences(worker, task_.tables.outputs, batch.output_keys);
  } else {
    loss = skip_gram_.add_gradients(batch, inputs_.values(), outputs_.values(), inputs_.zero_gradients(),
                                    outputs_.zero_gradients());
    inputs_.push_gradients(worker, task_.tables.inputs, batch.input_keys);
    outputs_.push_gradients(worker, task_.tables.outputs, batch.output_keys);
  }
  return loss;
}

// By what all workers have done, if they are as fast as this one.
float EpochRunner::rate(std::uint64_t epoch, std::uint64_t words) const {
  const double share = static_cast<double>(words) * static_cast<double>(task_.workers) /
                       static_cast<double>(task_.corpus.occurrences);
  const double done =
      (static_cast<double>(epoch) + std::min(1.0, share)) / static_cast<double>(options_.epochs);
  return static_cast<float>(options_.rate * std::max(kLeastRate, 1 - done));
}

}  // namespace lapse::apps

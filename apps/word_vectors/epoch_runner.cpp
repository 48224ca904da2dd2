#include "apps/word_vectors/epoch_runner.hpp"

#include <algorithm>
#include <deque>

#include "io/shuffle_buffer.hpp"

namespace lapse::apps {

namespace {

// Of the rate at the start: the least that it falls to, as in word2vec.
constexpr double kLeastRate = 1e-4;

}  // namespace

EpochRunner::EpochRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      options_(options),
      batcher_(task.corpus, task.subsampling, task.noise, options.windows),
      skip_gram_(task.tables.inputs.length()),
      inputs_(task.tables.inputs.length()),
      outputs_(task.tables.outputs.length()) {}

EpochProgress EpochRunner::run(adapm::Worker& worker, std::uint64_t epoch, const OnProgress& on_progress) {
  const std::uint64_t stream = 2 * (epoch * task_.workers + task_.worker);
  SentenceReader reader(
      task_.corpus, {static_cast<std::uint32_t>(task_.worker), static_cast<std::uint32_t>(task_.workers)});
  io::ShuffleBuffer<Sentence> shuffle(options_.shuffle, RandomEngine(options_.seed, stream));
  const auto read = [&](Sentence& sentence) { return reader.next(sentence); };
  batcher_.restart([&](Sentence& sentence) { return shuffle.next(sentence, read); },
                   RandomEngine(options_.seed, stream + 1));

  // Where keys may be remote, the first are on their way while the loader makes the batches behind them.
  io::PrefetchingLoader<WindowBatch> loader(
      {.ahead = options_.lookahead,
       .ahead_of_first = worker.ranks() == 1 ? 1 : (options_.lookahead + 1) / 2,
       .held = localizes() ? kLocalizeAhead + 1 : 1},
      [this](WindowBatch& batch) { return batcher_.fill(batch); }, signal_to(worker));
  const auto next = [&] {
    const WindowBatch* const batch = loader.next();
    if (batch != nullptr && localizes() && worker.ranks() != 1) {
      static_cast<void>(worker.localize(task_.tables.inputs, batch->input_keys));
      static_cast<void>(worker.localize(task_.tables.outputs, batch->output_keys));
    }
    return batch;
  };
  std::deque<const WindowBatch*> held;  // to be trained
  for (std::size_t i = 0; localizes() && i < kLocalizeAhead; ++i) held.push_back(next());
  EpochProgress progress;
  for (;;) {
    held.push_back(next());
    const WindowBatch* const batch = held.front();
    if (batch == nullptr) break;
    held.pop_front();
    progress.loss += train(worker, *batch, rate(epoch, progress.words));
    progress.words += batch->words;
    worker.advance_clock();
    if (on_progress) on_progress(progress);
  }
  return progress;
}

io::PrefetchingLoader<WindowBatch>::OnMade EpochRunner::signal_to(adapm::Worker& worker) const {
  if (worker.ranks() == 1 || localizes()) return {};
  const adapm::IntentHandle intents = worker.loader();
  const std::int64_t first = intents.current_clock().value();
  return [this, intents, first](const WindowBatch& batch, std::uint64_t number) {
    const Clock start(first + static_cast<std::int64_t>(number));
    const Clock end(start.value() + 1);
    intents.intent(task_.tables.inputs, batch.input_keys, start, end);
    intents.intent(task_.tables.outputs, batch.output_keys, start, end);
  };
}

LossSum EpochRunner::train(adapm::Worker& worker, const WindowBatch& batch, float rate) {
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

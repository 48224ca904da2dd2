#include "apps/word_vectors/epoch_runner.hpp"

#include <algorithm>
#include <utility>

namespace lapse::apps {

namespace {

// The final rate as a share of the initial rate, like in word2vec.
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

bool EpochRunner::restart(std::uint64_t epoch, EpochProgress& progress, const ShallLeave& shall_leave) {
  epoch_ = epoch;
  made_.clear();
  made_again_.reset();
  const std::uint64_t stream = 3 * (epoch * task_.workers + task_.worker);
  reader_.emplace(task_.corpus, io::FilePart{static_cast<std::uint32_t>(task_.worker),
                                             static_cast<std::uint32_t>(task_.workers)});
  shuffle_.restart(RandomEngine(options_.seed, stream));
  const auto read = [&](Sentence& sentence) { return reader_->next(sentence); };
  batcher_.restart([this, read](Sentence& sentence) { return shuffle_.next(sentence, read); },
                   RandomEngine(options_.seed, stream + 1));
  WindowBatch done;
  std::uint64_t batches = 0;
  std::uint64_t words = 0;
  const auto is_behind = [&] {
    return progress.batches != 0 ? batches == progress.batches : words >= progress.words;
  };
  for (; !is_behind() && batcher_.fill(done); ++batches) {
    if (shall_leave && shall_leave(0)) return false;
    words += done.words;
  }
  progress.batches = batches;
  made_again_ = batches;
  return true;
}

void EpochRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, EpochProgress& progress,
                      const ShallLeave& shall_leave, const OnProgress& on_progress) {
  const bool goes_on = progress.ended || (epoch_ == epoch && left_at_ == progress.batches);
  if (goes_on) made_again_ = 0;
  const bool is_placed = goes_on || restart(epoch, progress, shall_leave);
  left_at_.reset();
  const std::uint64_t begin = progress.batches;
  // If keys may be remote, the first batches' keys are in flight while the loader makes the next batches.
  io::PrefetchingLoader<WindowBatch> loader(
      {.ahead = options_.lookahead,
       .ahead_of_first = worker.ranks() == 1 ? 1 : (options_.lookahead + 1) / 2,
       .held = localizes() ? kLocalizeAhead + 1 : 1},
      [this, begin, ended = progress.ended || !is_placed, intents = worker.loader(),
       first = worker.current_clock()](WindowBatch& batch, std::uint64_t number) {
        return !ended &&
               make(batch, begin + number, intents, Clock(first.value() + static_cast<std::int64_t>(number)));
      });
  const auto next = [&] {
    WindowBatch* const batch = loader.next();
    if (batch != nullptr && localizes()) localize(worker, *batch);
    return batch;
  };
  std::deque<WindowBatch*> held;  // to be trained
  for (std::size_t i = 0; i < (localizes() ? kLocalizeAhead + 1 : 1); ++i) held.push_back(next());
  AgreedRounds rounds(worker, options_.deterministic);
  while (rounds.next(held.front() != nullptr, shall_leave)) {
    WindowBatch* const batch = held.front();
    if (batch != nullptr) pull(worker, *batch);
    rounds.all_have_read();
    if (batch != nullptr) progress.loss += compute(*batch, rate(epoch, progress.words));
    rounds.in_turn([&] {
      if (batch != nullptr) push(worker, *batch);
    });
    if (batch == nullptr) continue;
    progress.words += batch->words;
    ++progress.batches;
    held.pop_front();
    held.push_back(next());
    worker.advance_clock();
    if (on_progress) on_progress(progress);
  }
  if (!is_placed) return;
  progress.ended = held.front() == nullptr;
  if (progress.ended) return;
  keep_made(held, loader);
  left_at_ = progress.batches;
}

void EpochRunner::keep_made(const std::deque<WindowBatch*>& held,
                            io::PrefetchingLoader<WindowBatch>& loader) {
  loader.stop();
  std::deque<WindowBatch> made;
  const auto keep = [&](WindowBatch& batch) {
    batch.sample.reset();
    made.push_back(std::move(batch));
  };
  for (WindowBatch* const batch : held)
    if (batch != nullptr) keep(*batch);
  while (WindowBatch* const batch = loader.next()) keep(*batch);
  // Then the kept batches that the loader has not reached.
  made.insert(made.end(), std::move_iterator(made_.begin()), std::move_iterator(made_.end()));
  made_ = std::move(made);
}

bool EpochRunner::make(WindowBatch& batch, std::uint64_t number, const adapm::IntentHandle& intents,
                       Clock clock) {
  const bool is_made = !made_.empty();
  if (is_made) {
    batch = std::move(made_.front());
    made_.pop_front();
  } else if (!batcher_.fill(batch)) {
    return false;
  }
  const Clock end(clock.value() + 1);
  if (is_made && task_.sampler == nullptr) {
    // Its negatives are drawn already.
  } else if (task_.sampler == nullptr) {
    const std::uint64_t stream = 3 * (epoch_ * task_.workers + task_.worker) + 2;
    RandomEngine random(options_.seed + kGoldenGamma * number, stream);
    drawn_.resize(batch.draws);
    task_.noise.draw(random, drawn_);
    placer_.place(batch, drawn_);
  } else if (batch.draws != 0) {
    batch.sample = intents.prepare_sample(*task_.sampler, batch.draws, clock, end);
  }
  if (task_.ranks == 1) return true;
  intents.intent(task_.tables.inputs, batch.input_keys, clock, end);
  intents.intent(task_.tables.outputs, batch.output_keys, clock, end);
  return true;
}

void EpochRunner::localize(adapm::IntentWorker& worker, const WindowBatch& batch) const {
  if (worker.ranks() == 1) return;
  static_cast<void>(worker.localize(task_.tables.inputs, batch.input_keys));
  static_cast<void>(worker.localize(task_.tables.outputs, batch.output_keys));
}

void EpochRunner::pull(adapm::IntentWorker& worker, WindowBatch& batch) {
  if (batch.sample) {
    drawn_.resize(batch.sample->left());
    worker.take_keys(*batch.sample, drawn_);
    batch.sample.reset();
    placer_.place(batch, drawn_);
  }
  Operation pull = inputs_.pull(worker, task_.tables.inputs, batch.input_keys);
  outputs_.pull(worker, task_.tables.outputs, batch.output_keys).wait();
  pull.wait();
}

LossSum EpochRunner::compute(const WindowBatch& batch, float rate) {
  if (options_.optimiser == Optimiser::sgd) {
    inputs_.keep_copy();
    outputs_.keep_copy();
    return skip_gram_.descend(batch, rate, inputs_.values(), outputs_.values());
  }
  return skip_gram_.add_gradients(batch, inputs_.values(), outputs_.values(), inputs_.zero_gradients(),
                                  outputs_.zero_gradients());
}

void EpochRunner::push(adapm::IntentWorker& worker, const WindowBatch& batch) {
  if (options_.optimiser == Optimiser::sgd) {
    inputs_.push_differences(worker, task_.tables.inputs, batch.input_keys);
    outputs_.push_differences(worker, task_.tables.outputs, batch.output_keys);
  } else {
    inputs_.push_gradients(worker, task_.tables.inputs, batch.input_keys);
    outputs_.push_gradients(worker, task_.tables.outputs, batch.output_keys);
  }
}

// By the progress of all workers, assuming that they are as fast as this one.
float EpochRunner::rate(std::uint64_t epoch, std::uint64_t words) const {
  const double share = static_cast<double>(words) * static_cast<double>(task_.workers) /
                       static_cast<double>(task_.corpus.occurrences);
  const double done =
      (static_cast<double>(epoch) + std::min(1.0, share)) / static_cast<double>(options_.epochs);
  return static_cast<float>(options_.rate * std::max(kLeastRate, 1 - done));
}

}  // namespace lapse::apps

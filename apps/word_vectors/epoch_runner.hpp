// One worker's share of an epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/intent_worker.hpp"
#include "adapm/sampler.hpp"
#include "apps/common/agreed_rounds.hpp"
#include "apps/common/corpus.hpp"
#include "apps/word_vectors/batch_vectors.hpp"
#include "apps/word_vectors/skip_gram.hpp"
#include "apps/word_vectors/vector_tables.hpp"
#include "apps/word_vectors/window_batch.hpp"
#include "lapse/consistency/consistency.hpp"
#include "lapse/io/loading/prefetching_loader.hpp"
#include "lapse/io/loading/shuffle_buffer.hpp"

namespace lapse::apps {

struct RunnerOptions {
  WindowOptions windows;
  Optimiser optimiser = Optimiser::sgd;
  double rate = 0.05;           // SGD: initial rate; falls linearly to 1e-4 of it
  std::uint64_t epochs = 5;     // over which the rate falls
  std::size_t lookahead = 100;  // batches made, and their intents signaled, ahead of their use
  // Sentences in the shuffle buffer; 0 or 1: in the order of the text. Vectors follow the text that they are
  // trained on, the faster the larger the rate, so the buffer should exceed the text about one topic.
  std::size_t shuffle = 20000;
  std::uint64_t seed = 1;
  std::optional<Consistency> consistency;  // empty: that of the technique
  // All updates have a fixed order, so that every run gives the same result, bit for bit. Workers push one
  // after the other.
  bool deterministic = false;
};

// The data of one worker's runner, held by reference.
struct WorkerTask {
  const Corpus& corpus;
  const Subsampling& subsampling;
  const adapm::Distribution& noise;  // of negatives
  const VectorTables& tables;
  const adapm::Sampler<float>* sampler;  // of negatives; null: drawn when batches are made
  adapm::Technique technique;
  std::size_t worker;   // its number among all workers
  std::size_t workers;  // the number of all workers
  std::int32_t ranks;
};

// A worker's progress in the epoch.
struct EpochProgress {
  std::uint64_t words = 0;  // of the text
  LossSum loss;
  std::uint64_t batches = 0;
  bool ended = false;  // whether the epoch has ended
};

// Trains a worker's part of the text, read from the files in each epoch. A loader thread makes batches ahead
// and signals intents for their keys; a batch is a clock. With a sampler, the negatives of a batch are
// prepared when it is made and drawn in its turn, by the sampler's scheme. In its turn, a batch is pulled,
// trained on the worker's copy of its vectors, and pushed; local keys are accessed in memory. Under the
// technique localize, the worker localizes the keys a few batches ahead instead of signaling intents.
//
// Belongs to one worker.
class EpochRunner {
 public:
  using OnProgress = std::function<void(const EpochProgress&)>;

  EpochRunner(const WorkerTask& task, const RunnerOptions& options);

  // Continues at `progress`. If another runner made that progress, makes the finished batches again; if it
  // has only words and no batches, starts at the batch after that many words. Calls on_progress, if given,
  // after every batch. Throws what the threads throw.
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, EpochProgress& progress,
           const ShallLeave& shall_leave = {}, const OnProgress& on_progress = {});
  // During a run, the number of batches made again at the start; nullopt while it still makes them.
  std::optional<std::uint64_t> made_again() const { return made_again_; }

 private:
  static constexpr std::size_t kLocalizeAhead = 4;  // batches

  bool localizes() const { return task_.technique == adapm::Technique::localize; }
  // Begins to read the text, and skips the finished part. Returns false if the worker is to leave first.
  bool restart(std::uint64_t epoch, EpochProgress& progress, const ShallLeave& shall_leave);
  // Keeps the batches that were made ahead, in order.
  void keep_made(const std::deque<WindowBatch*>& held, io::PrefetchingLoader<WindowBatch>& loader);
  // Returns false at the end of the text. `number`: of the batch in the epoch; `clock`: of its use.
  bool make(WindowBatch& batch, std::uint64_t number, const adapm::IntentHandle& intents, Clock clock);
  void localize(adapm::IntentWorker& worker, const WindowBatch& batch) const;
  void pull(adapm::IntentWorker& worker, WindowBatch& batch);
  LossSum compute(const WindowBatch& batch, float rate);
  void push(adapm::IntentWorker& worker, const WindowBatch& batch);
  float rate(std::uint64_t epoch, std::uint64_t words) const;

  WorkerTask task_;
  RunnerOptions options_;
  std::optional<SentenceReader> reader_;
  io::ShuffleBuffer<Sentence> shuffle_;  // from here on used by the loader's thread
  WindowBatcher batcher_;
  std::deque<WindowBatch> made_;  // by an earlier run in this epoch, not yet trained
  std::uint64_t epoch_ = 0;       // the current epoch
  std::optional<std::uint64_t> made_again_ = {};
  std::optional<std::uint64_t> left_at_ = {};  // batches done when it left; nullopt: not within the epoch
  NegativePlacer placer_;                      // from here on used by the thread that draws
  std::vector<Key> drawn_;
  SkipGram skip_gram_;
  BatchVectors inputs_;
  BatchVectors outputs_;
};

}  // namespace lapse::apps

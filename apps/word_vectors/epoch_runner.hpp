// One worker's share of an epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampler.hpp"
#include "adapm/worker.hpp"
#include "apps/word_vectors/batch_vectors.hpp"
#include "apps/word_vectors/corpus.hpp"
#include "apps/word_vectors/skip_gram.hpp"
#include "apps/word_vectors/vector_tables.hpp"
#include "apps/word_vectors/window_batch.hpp"
#include "io/shuffle_buffer.hpp"

namespace lapse::apps {

struct RunnerOptions {
  WindowOptions windows;
  Optimiser optimiser = Optimiser::sgd;
  double rate = 0.05;           // SGD: at the start; it falls in a line to 1e-4 of it
  std::uint64_t epochs = 5;     // in which it does
  std::size_t lookahead = 100;  // batches that are made, and whose intents are signaled, ahead of their use
  std::size_t shuffle = 1000;  // sentences in the buffer that shuffles them; 0 or 1: in the order of the text
  std::uint64_t seed = 1;
};

// The data of one worker's runner; referred to, not copied.
struct WorkerTask {
  const Corpus& corpus;
  const Subsampling& subsampling;
  const adapm::Distribution& noise;  // of negatives
  const VectorTables& tables;
  const adapm::Sampler<float>* sampler;  // of negatives; null: drawn where batches are made
  adapm::Technique technique;
  std::size_t worker;   // of all
  std::size_t workers;  // in all
};

// What a worker has done so far in the epoch.
struct EpochProgress {
  std::uint64_t words = 0;  // of the text
  LossSum loss;
};

// Trains a worker's part of the text, from the files anew in each epoch. A thread makes batches ahead and
// signals the intents for their keys; a clock is a batch. With a sampler the negatives of a batch are
// prepared when it is made and drawn when its turn comes, as the sampler's scheme says. A batch is pulled
// when its turn comes, trained on the worker's copy of its vectors, and pushed: keys that are local take and
// give their values in memory. Under the technique localize, the worker localizes the keys of a few batches
// ahead instead of the intents.
//
// Belongs to one worker.
class EpochRunner {
 public:
  using OnProgress = std::function<void(const EpochProgress&)>;

  EpochRunner(const WorkerTask& task, const RunnerOptions& options);

  // Calls on_progress, where there is one, after every batch. Throws what the threads throw.
  EpochProgress run(adapm::Worker& worker, std::uint64_t epoch, const OnProgress& on_progress = {});

 private:
  static constexpr std::size_t kLocalizeAhead = 4;  // batches

  bool localizes() const { return task_.technique == adapm::Technique::localize; }
  // False at the end of the text. `clock`: when the batch is used.
  bool make(WindowBatch& batch, const adapm::IntentHandle& intents, Clock clock);
  void localize(adapm::Worker& worker, const WindowBatch& batch) const;
  LossSum train(adapm::Worker& worker, WindowBatch& batch, float rate);
  float rate(std::uint64_t epoch, std::uint64_t words) const;

  WorkerTask task_;
  RunnerOptions options_;
  io::ShuffleBuffer<Sentence> shuffle_;  // with these two, used by the loader's thread
  WindowBatcher batcher_;
  RandomEngine random_{0};
  NegativePlacer placer_;  // with these, by the thread that draws
  std::vector<Key> drawn_;
  SkipGram skip_gram_;
  BatchVectors inputs_;
  BatchVectors outputs_;
};

}  // namespace lapse::apps

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
#include "apps/word_vectors/batch_vectors.hpp"
#include "apps/word_vectors/corpus.hpp"
#include "apps/word_vectors/skip_gram.hpp"
#include "apps/word_vectors/vector_tables.hpp"
#include "apps/word_vectors/window_batch.hpp"
#include "lapse/io/loading/prefetching_loader.hpp"
#include "lapse/io/loading/shuffle_buffer.hpp"

namespace lapse::apps {

struct RunnerOptions {
  WindowOptions windows;
  Optimiser optimiser = Optimiser::sgd;
  double rate = 0.05;           // SGD: at the start; it falls in a line to 1e-4 of it
  std::uint64_t epochs = 5;     // in which it does
  std::size_t lookahead = 100;  // batches that are made, and whose intents are signaled, ahead of their use
  // Sentences in the buffer that shuffles them; 0 or 1: in the order of the text. Vectors follow the text
  // that they are trained on, the faster the larger the rate: more should be mixed than is about one thing.
  std::size_t shuffle = 20000;
  std::uint64_t seed = 1;
  // The updates of all workers have one order: the result is the same in every run, bit for bit. Workers push
  // one after the other.
  bool deterministic = false;
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
  std::int32_t ranks;
};

// What a worker has done so far in the epoch.
struct EpochProgress {
  std::uint64_t words = 0;  // of the text
  LossSum loss;
  std::uint64_t batches = 0;
  bool ended = false;  // the epoch
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

  // Goes on from what is done of the epoch, at the beginning nothing. Where another runner has done it, by
  // making the batches again that are done; where only words are done and no batches: from the batch behind
  // so many words. Calls on_progress, where there is one, after every batch. Throws what the threads throw.
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, EpochProgress& progress,
           const ShallLeave& shall_leave = {}, const OnProgress& on_progress = {});
  // While it runs: how many batches it has made again at the start; nothing: it still does.
  std::optional<std::uint64_t> made_again() const { return made_again_; }

 private:
  static constexpr std::size_t kLocalizeAhead = 4;  // batches

  bool localizes() const { return task_.technique == adapm::Technique::localize; }
  // Begins to read the text, and leaves out what is done. False: the worker is to leave before that.
  bool restart(std::uint64_t epoch, EpochProgress& progress, const ShallLeave& shall_leave);
  // Keeps what was made ahead, in order.
  void keep_made(const std::deque<WindowBatch*>& held, io::PrefetchingLoader<WindowBatch>& loader);
  // False at the end of the text. `number`: of the batch in the epoch; `clock`: when it is used.
  bool make(WindowBatch& batch, std::uint64_t number, const adapm::IntentHandle& intents, Clock clock);
  void localize(adapm::IntentWorker& worker, const WindowBatch& batch) const;
  void pull(adapm::IntentWorker& worker, WindowBatch& batch);
  LossSum compute(const WindowBatch& batch, float rate);
  void push(adapm::IntentWorker& worker, const WindowBatch& batch);
  float rate(std::uint64_t epoch, std::uint64_t words) const;

  WorkerTask task_;
  RunnerOptions options_;
  std::optional<SentenceReader> reader_;
  io::ShuffleBuffer<Sentence> shuffle_;  // with these, used by the loader's thread
  WindowBatcher batcher_;
  std::deque<WindowBatch> made_;  // by an earlier run in this epoch, and not trained
  std::uint64_t epoch_ = 0;       // that runs
  std::optional<std::uint64_t> made_again_ = {};
  std::optional<std::uint64_t> left_at_ = {};  // after so many batches; nothing: not in the epoch
  NegativePlacer placer_;                      // with these, by the thread that draws
  std::vector<Key> drawn_;
  SkipGram skip_gram_;
  BatchVectors inputs_;
  BatchVectors outputs_;
};

}  // namespace lapse::apps

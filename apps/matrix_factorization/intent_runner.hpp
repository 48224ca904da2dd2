// What the runners with intents have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "apps/matrix_factorization/epoch_runner.hpp"
#include "lapse/io/loading/prefetching_loader.hpp"

namespace lapse::apps {

// Visits cells in batches, of which each is a clock. The loader's thread signals intents for the batches'
// columns some batches ahead; the worker signals one intent for all its rows for the whole epoch. The manager
// does the rest. Under the technique `localize`, the worker localizes the rows once, and columns ahead of
// their use.
class IntentRunner : public EpochRunner {
 public:
  void place(Worker& worker) final {
    if (localizes()) worker.localize(task_.factors.table, rows_).wait();
  }

 protected:
  IntentRunner(const WorkerTask& task, const RunnerOptions& options)
      : task_(task),
        seed_(options.seed),
        batch_(options.batch.value_or(kIntentBatch)),
        lookahead_(options.lookahead.value_or(localizes() ? kLocalizeAhead : kSignalAhead)) {}

  bool localizes() const { return task_.technique == adapm::Technique::localize; }
  std::size_t batches() const { return (visits_.size() + batch_ - 1) / batch_; }
  // The cells of a batch, in the order of the epoch.
  std::span<const io::Cell> cells_of(std::size_t number) const {
    const std::size_t begin = number * batch_;
    return std::span(visits_).subspan(begin, std::min(batch_, visits_.size() - begin));
  }

  // Trains all batches of visits_. Batch has `columns`, the keys to announce. make(batch, number, intents,
  // clock) runs on the loader's thread; localize(batch), for the technique of this name, and train(batch) on
  // the worker's.
  template <class Batch, class Make, class Localize, class Train>
  void run_batches(adapm::IntentWorker& worker, Make&& make, Localize&& localize, Train&& train) {
    const Table<float>& table = task_.factors.table;
    const Clock first = worker.current_clock();
    const auto clock_of = [&](std::size_t number) {
      return Clock(first.value() + static_cast<std::int64_t>(number));
    };
    const bool signals = !localizes() && worker.ranks() > 1;
    if (signals) worker.intent(table, rows_, first, clock_of(batches()));
    const std::size_t ahead = localizes() ? lookahead_ : 0;
    const auto make_next = [&, intents = worker.loader()](Batch& batch, std::uint64_t number) {
      if (number == batches()) return false;
      make(batch, number, intents, clock_of(number));
      if (signals) intents.intent(table, batch.columns, clock_of(number), clock_of(number + 1));
      return true;
    };
    io::PrefetchingLoader<Batch> loader({.ahead = lookahead_, .held = ahead + 1}, make_next);
    std::deque<Batch*> held;  // to be trained
    std::size_t taken = 0;
    for (std::size_t trained = 0; trained < batches(); ++trained) {
      for (; taken < std::min(batches(), trained + 1 + ahead); ++taken) {
        held.push_back(loader.next());
        if (localizes()) localize(*held.back());
      }
      train(*held.front());
      held.pop_front();
      worker.advance_clock();
    }
  }

  const WorkerTask task_;
  const std::uint64_t seed_;
  const std::size_t batch_;
  const std::size_t lookahead_;
  std::vector<Key> rows_;         // of the worker's cells
  std::vector<io::Cell> visits_;  // the cells in the order of the epoch
};

}  // namespace lapse::apps

// Trains batches of interactions on copies of their factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "adapm/intent_worker.hpp"
#include "adapm/sampler.hpp"
#include "apps/common/key_slots.hpp"
#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/ranking/ranking_loss.hpp"
#include "apps/matrix_factorization/ranking/user_items.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"

namespace lapse::apps {

// What the workers of a rank need to draw negatives; referenced by them.
struct NegativeItems {
  RankingOptions options;
  UserItems known;                // of the training cells
  adapm::Sampler<float> sampler;  // of the keys of all columns
};

// Interactions that are trained together, and draws of negatives for them.
struct PositiveBatch {
  std::span<const io::Cell> cells = {};
  std::vector<Key> columns = {};  // of the cells, distinct
  // Draws: keys that were taken from the sample before the batch is trained, then the sample.
  std::vector<Key> taken = {};
  std::optional<adapm::PreparedSample<float>> sample = {};
};

// Pulls the factors of a batch, visits its interactions one after the other on these copies, and pushes the
// changes. For each interaction it draws an item that the user lacks; for the loss warp, it draws until one
// violates the margin, max_sampled times. It draws again if the user has the item; after kMaxKnownDraws of
// them in one visit, or if the user has all items, there is no step. Draws beyond those of the batch are
// prepared when they are needed. A table that takes gradients gets one for each key that a step changes: the
// sum over the batch, at the pulled values. Belongs to one worker. What it is made of must outlive it.
class PairTrainer {
 public:
  static constexpr std::uint32_t kMaxKnownDraws = 100;

  PairTrainer(const FactorTable& factors, const FactorModel& model, const NegativeItems& negatives);

  void train(adapm::IntentWorker& worker, PositiveBatch& batch, const SgdSteps& steps);

  struct Totals {
    double loss = 0;
    std::uint64_t visits = 0;  // of interactions
    std::uint64_t draws = 0;
  };
  // Returns the totals since the last call.
  Totals take_totals();

 private:
  struct Negative {
    std::size_t offset;  // of its value
    PairLoss loss;
  };

  void visit(adapm::IntentWorker& worker, PositiveBatch& batch, const io::Cell& cell, const SgdSteps& steps);
  // A negative to step away from; nullopt: none was found.
  std::optional<Negative> find_negative(adapm::IntentWorker& worker, PositiveBatch& batch, std::uint32_t row,
                                        std::size_t user, std::size_t positive);
  Key next_draw(adapm::IntentWorker& worker, PositiveBatch& batch);
  // Appends draws to draws_, at least one, and their factors.
  void draw_more(adapm::IntentWorker& worker, PositiveBatch& batch);
  // Pulls the values of keys without values.
  void pull_new(Worker& worker);
  void push_changes(Worker& worker, const SgdSteps& steps);
  // The offset of a key's value in values_.
  std::size_t offset(Key key) { return slots_.slot(key, keys_) * model_.length(); }

  const FactorTable& factors_;
  const FactorModel& model_;
  const NegativeItems& negatives_;
  PairSteps pair_;
  KeySlots slots_;
  std::vector<Key> keys_;         // of the batch
  std::vector<float> values_;     // of the keys, row by row
  std::vector<float> changes_;    // sums of gradients, or the pulled values
  std::vector<bool> is_changed_;  // by slot
  std::vector<Key> draws_;
  std::size_t next_draw_ = 0;
  std::vector<Key> pushed_keys_;
  std::vector<float> pushed_;
  Totals totals_;
};

}  // namespace lapse::apps

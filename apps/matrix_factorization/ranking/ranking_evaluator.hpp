// The quality of the model's rankings for users with held-out items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/ranking/ranking_quality.hpp"
#include "apps/matrix_factorization/ranking/user_items.hpp"

namespace lapse::apps {

// Ranks all items that a user does not have in the training data. Belongs to one worker, which evaluates some
// of the users, on pulled copies of the factors: those of a batch of users, and of one block of items at a
// time. `known` and `held_out` must outlive it.
class RankingEvaluator {
 public:
  // known: the items of the training data; held_out: others. users: rows that have held-out items.
  RankingEvaluator(const UserItems& known, const UserItems& held_out, std::vector<std::uint32_t> users,
                   std::size_t top)
      : known_(known), held_out_(held_out), users_(std::move(users)), top_(top) {}

  // By the model.
  RankingSums by_model(Worker& worker, const FactorTable& factors, const FactorModel& model);
  // By the number of training cells of each column: the same list for every user.
  RankingSums by_popularity(std::span<const std::uint32_t> column_counts);

 private:
  // Begins `positions` with the user's held-out items, whose scores are score(index, item).
  template <class Score>
  void begin(HeldOutPositions& positions, std::uint32_t user, Score&& score);
  // Adds the items from `first` on, which have these scores, without those of the user. Overwrites scores.
  void add_others(HeldOutPositions& positions, std::uint32_t user, std::uint32_t first,
                  std::span<float> scores);
  // The users of a batch that begins there.
  std::span<const std::uint32_t> next_users(std::size_t begin) const;
  void pull_users(Worker& worker, const FactorTable& factors, const FactorModel& model,
                  std::span<const std::uint32_t> users);

  const UserItems& known_;
  const UserItems& held_out_;
  std::vector<std::uint32_t> users_;
  std::size_t top_;
  std::vector<HeldOutPositions> positions_;  // of a batch of users
  std::vector<Key> keys_;
  std::vector<float> rows_;
  std::vector<float> columns_;
  std::vector<float> scores_;
  std::vector<ScoredItem> scored_;
};

}  // namespace lapse::apps

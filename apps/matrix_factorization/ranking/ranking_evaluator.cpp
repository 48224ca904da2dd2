#include "apps/matrix_factorization/ranking/ranking_evaluator.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

namespace {

// Of a batch of users, for which all items are pulled once.
constexpr std::size_t kMaxUsers = 4096;
constexpr std::size_t kMaxHeldOut = std::size_t{1} << 16U;
constexpr std::uint64_t kItemsPerBlock = 2048;

// Scores of items that are no candidates.
constexpr float kLeftOut = std::numeric_limits<float>::quiet_NaN();

// A diverged model's scores may be no numbers; its training ends with an error after the evaluation.
float number_or_lowest(float score) {
  return std::isnan(score) ? -std::numeric_limits<float>::infinity() : score;
}

void leave_out(std::span<const std::uint32_t> items, std::uint32_t first, std::span<float> scores) {
  for (auto item = std::lower_bound(items.begin(), items.end(), first);
       item != items.end() && *item - first < scores.size(); ++item)
    scores[*item - first] = kLeftOut;
}

}  // namespace

RankingSums RankingEvaluator::by_model(Worker& worker, const FactorTable& factors, const FactorModel& model) {
  const std::size_t length = model.length();
  RankingSums sums;
  for (std::size_t begin = 0; begin < users_.size();) {
    const auto users = next_users(begin);
    begin += users.size();
    pull_users(worker, factors, model, users);
    for (std::uint64_t first = 0; first < factors.columns; first += kItemsPerBlock) {
      const std::uint64_t items = std::min(kItemsPerBlock, factors.columns - first);
      keys_.clear();
      for (std::uint64_t i = 0; i < items; ++i) keys_.push_back(factors.column_key(first + i));
      columns_.resize(items * length);
      worker.pull(factors.table, keys_, columns_).wait();
      scores_.resize(items);
      for (std::size_t u = 0; u < users.size(); ++u) {
        const float* const row = rows_.data() + u * length;
        for (std::size_t i = 0; i < items; ++i)
          scores_[i] = number_or_lowest(model.predict(row, columns_.data() + i * length));
        add_others(positions_[u], users[u], static_cast<std::uint32_t>(first), scores_);
      }
    }
    for (std::size_t u = 0; u < users.size(); ++u) sums.add(positions_[u].quality(top_));
  }
  return sums;
}

RankingSums RankingEvaluator::by_popularity(std::span<const std::uint32_t> column_counts) {
  RankingSums sums;
  HeldOutPositions positions;
  const std::vector<float> counts(column_counts.begin(), column_counts.end());
  for (const std::uint32_t user : users_) {
    begin(positions, user, [&](std::size_t, std::uint32_t item) { return counts[item]; });
    scores_ = counts;
    add_others(positions, user, 0, scores_);
    sums.add(positions.quality(top_));
  }
  return sums;
}

template <class Score>
void RankingEvaluator::begin(HeldOutPositions& positions, std::uint32_t user, Score&& score) {
  scored_.clear();
  for (const std::uint32_t item : held_out_.of(user)) scored_.push_back({score(scored_.size(), item), item});
  positions.begin(scored_);
}

void RankingEvaluator::add_others(HeldOutPositions& positions, std::uint32_t user, std::uint32_t first,
                                  std::span<float> scores) {
  leave_out(known_.of(user), first, scores);
  leave_out(held_out_.of(user), first, scores);
  for (std::uint32_t i = 0; i < scores.size(); ++i)
    if (!std::isnan(scores[i])) positions.add_other({scores[i], first + i});
}

std::span<const std::uint32_t> RankingEvaluator::next_users(std::size_t begin) const {
  std::size_t end = begin;
  for (std::size_t held_out = 0; end < users_.size() && end - begin < kMaxUsers; ++end) {
    held_out += held_out_.of(users_[end]).size();
    if (end > begin && held_out > kMaxHeldOut) break;
  }
  return std::span(users_).subspan(begin, end - begin);
}

// Begins their positions, too.
void RankingEvaluator::pull_users(Worker& worker, const FactorTable& factors, const FactorModel& model,
                                  std::span<const std::uint32_t> users) {
  const std::size_t length = model.length();
  keys_.clear();
  for (const std::uint32_t user : users) keys_.push_back(factors.row_key(user));
  rows_.resize(keys_.size() * length);
  worker.pull(factors.table, keys_, rows_).wait();
  keys_.clear();
  for (const std::uint32_t user : users)
    for (const std::uint32_t item : held_out_.of(user)) keys_.push_back(factors.column_key(item));
  columns_.resize(keys_.size() * length);
  worker.pull(factors.table, keys_, columns_).wait();
  positions_.resize(users.size());
  const float* column = columns_.data();
  for (std::size_t u = 0; u < users.size(); ++u) {
    const float* const row = rows_.data() + u * length;
    begin(positions_[u], users[u], [&](std::size_t i, std::uint32_t) {
      return number_or_lowest(model.predict(row, column + i * length));
    });
    column += held_out_.of(users[u]).size() * length;
  }
}

}  // namespace lapse::apps

#include "apps/matrix_factorization/ranking/ranking_quality.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

namespace {

bool precedes(const ScoredItem& left, const ScoredItem& right) {
  return left.score != right.score ? left.score > right.score : left.item < right.item;
}

double gain_at(std::uint64_t position) {
  return 1 / std::log2(static_cast<double>(position) + 1);
}

}  // namespace

void HeldOutPositions::begin(std::span<const ScoredItem> held_out) {
  held_out_.assign(held_out.begin(), held_out.end());
  std::sort(held_out_.begin(), held_out_.end(), precedes);
  arrived_.assign(held_out_.size() + 1, 0);
  others_ = 0;
  lost_pairs_ = 0;
}

void HeldOutPositions::place(ScoredItem other) {
  const auto higher = [&](const ScoredItem& held) { return held.score > other.score; };
  const auto not_lower = [&](const ScoredItem& held) { return held.score >= other.score; };
  const auto equal = std::partition_point(held_out_.begin(), held_out_.end(), higher);
  const auto lower = std::partition_point(equal, held_out_.end(), not_lower);
  lost_pairs_ += static_cast<double>(held_out_.end() - lower) + 0.5 * static_cast<double>(lower - equal);
  const auto next =
      std::partition_point(equal, lower, [&](const ScoredItem& held) { return held.item < other.item; });
  ++arrived_[static_cast<std::size_t>(next - held_out_.begin())];
}

std::vector<std::uint64_t> HeldOutPositions::positions() const {
  std::vector<std::uint64_t> positions;
  std::uint64_t position = 0;
  for (std::size_t h = 0; h < held_out_.size(); ++h) {
    position += arrived_[h] + 1;
    positions.push_back(position);
  }
  return positions;
}

RankingQuality HeldOutPositions::quality(std::size_t top) const {
  RankingQuality quality;
  if (others_ == 0) return quality;
  const std::vector<std::uint64_t> all = positions();
  double found = 0;
  double ideal_gain = 0;
  for (std::size_t h = 0; h < std::min(all.size(), top); ++h) {
    ideal_gain += gain_at(h + 1);
    if (all[h] > top) continue;
    ++found;
    quality.average_precision += found / static_cast<double>(all[h]);
    quality.ndcg += gain_at(all[h]);
  }
  const auto held_out = static_cast<double>(all.size());
  quality.users = 1;
  quality.precision = found / static_cast<double>(top);
  quality.recall = found / held_out;
  quality.average_precision /= std::min(held_out, static_cast<double>(top));
  quality.ndcg /= ideal_gain;
  quality.auc = 1 - lost_pairs_ / (held_out * static_cast<double>(others_));
  return quality;
}

void RankingSums::add(const RankingQuality& user) {
  const auto users = static_cast<double>(user.users);
  const std::array<double, 6> numbers{users,
                                      user.precision * users,
                                      user.recall * users,
                                      user.average_precision * users,
                                      user.ndcg * users,
                                      user.auc * users};
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += numbers[i];
}

RankingQuality RankingSums::mean() const {
  if (sums_[0] == 0) return {};
  return {static_cast<std::uint64_t>(sums_[0]),
          sums_[1] / sums_[0],
          sums_[2] / sums_[0],
          sums_[3] / sums_[0],
          sums_[4] / sums_[0],
          sums_[5] / sums_[0]};
}

}  // namespace lapse::apps

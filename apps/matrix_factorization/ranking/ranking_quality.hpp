// How well a ranking of items finds those that were held out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lapse::apps {

struct ScoredItem {
  float score = 0;  // a number
  std::uint32_t item = 0;
};

// Measures of the ranking for one user, or their means over users. With m held-out items, of which the one at
// position p (from 1) is the h-th, and k the length of the list that a user sees:
//   precision   held-out items at positions up to k, divided by k
//   recall      the same, divided by m
//   average_precision  the sum over these items of h / p, divided by min(m, k); its mean over users is MAP@k
//   ndcg        the sum over these items of 1 / log2(p + 1), divided by that of positions 1 to min(m, k)
//   auc         the share of pairs of a held-out item and another in which the held-out item has the higher
//               score; equal scores count one half
struct RankingQuality {
  std::uint64_t users = 0;
  double precision = 0;
  double recall = 0;
  double average_precision = 0;
  double ndcg = 0;
  double auc = 0;
};

// Finds the positions of one user's held-out items among the candidates: these items and those others that
// the user does not have in the training data. Higher scores come first, equal ones in the order of items.
class HeldOutPositions {
 public:
  // Begins with the held-out items of a user, at least one.
  void begin(std::span<const ScoredItem> held_out);
  // Adds another candidate.
  void add_other(ScoredItem other) {
    ++others_;
    if (other.score >= held_out_.back().score) place(other);
  }

  // The positions, ascending, from 1.
  std::vector<std::uint64_t> positions() const;
  // Requires top >= 1. Without other candidates there is nothing to rank: then users is 0.
  RankingQuality quality(std::size_t top) const;

 private:
  void place(ScoredItem other);

  std::vector<ScoredItem> held_out_;  // best first
  std::vector<std::uint64_t>
      arrived_;  // others between held-out item h - 1 and h; those after all: not counted
  std::uint64_t others_ = 0;
  double lost_pairs_ = 0;
};

// Sums over users, which workers add up.
class RankingSums {
 public:
  void add(const RankingQuality& user);
  // To be reduced.
  std::span<double> numbers() { return sums_; }
  // Zeros without users.
  RankingQuality mean() const;

 private:
  std::array<double, 6> sums_{};  // users, then the measures
};

}  // namespace lapse::apps

#include "bench/plain_ranking.hpp"

#include <algorithm>
#include <cmath>

#include "bench/support/joint_timer.hpp"
#include "lapse/io/loading/shuffle.hpp"

namespace lapse::bench {

namespace {

void adagrad(float& value, float& squares, float gradient, float rate) {
  squares += gradient * gradient;
  value -= rate * gradient / (std::sqrt(squares) + 1e-10F);
}

}  // namespace

PlainRanking::PlainRanking(const apps::FactorizationProblem& problem, const PlainRankingOptions& options)
    : problem_(problem),
      options_(options),
      random_(1),
      cells_(problem.train),
      items_(problem.rows),
      users_(problem.rows * options.rank),
      columns_(problem.columns * options.rank),
      biases_(problem.columns),
      user_squares_(users_.size()),
      column_squares_(columns_.size()),
      bias_squares_(biases_.size()) {
  for (const io::Cell& cell : cells_) items_[cell.row].push_back(cell.column);
  for (std::vector<std::uint32_t>& items : items_) std::sort(items.begin(), items.end());
  const auto initialise = [&](std::vector<float>& values, const std::vector<std::uint32_t>& counts) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto number = static_cast<float>(2 * PositionalRandom::to_unit_interval(random_()) - 1);
      if (counts[i / options.rank] != 0) values[i] = options.initial_scale * number;
    }
  };
  initialise(users_, problem.row_counts);
  initialise(columns_, problem.column_counts);
}

double PlainRanking::run_epoch() {
  const Clock::time_point begin = Clock::now();
  io::shuffle(std::span(cells_), random_);
  for (const io::Cell& cell : cells_) {
    if (items_[cell.row].size() >= problem_.columns) continue;
    auto negative = static_cast<std::uint32_t>(random_.below(problem_.columns));
    while (has(cell.row, negative)) negative = static_cast<std::uint32_t>(random_.below(problem_.columns));
    step(cell.row, cell.column, negative);
  }
  return seconds_between(begin, Clock::now());
}

void PlainRanking::step(std::uint32_t user, std::uint32_t positive, std::uint32_t negative) {
  const float weight = 1 / (1 + std::exp(score(user, positive) - score(user, negative)));
  const std::size_t rank = options_.rank;
  const float l2 = options_.l2;
  const float rate = options_.rate;
  for (std::size_t k = 0; k < rank; ++k) {
    const std::size_t u = user * rank + k;
    const std::size_t i = positive * rank + k;
    const std::size_t j = negative * rank + k;
    const float p = users_[u];
    const float q = columns_[i];
    const float n = columns_[j];
    adagrad(users_[u], user_squares_[u], l2 * p - weight * (q - n), rate);
    adagrad(columns_[i], column_squares_[i], l2 * q - weight * p, rate);
    adagrad(columns_[j], column_squares_[j], l2 * n + weight * p, rate);
  }
  adagrad(biases_[positive], bias_squares_[positive], options_.l2_biases * biases_[positive] - weight, rate);
  adagrad(biases_[negative], bias_squares_[negative], options_.l2_biases * biases_[negative] + weight, rate);
}

float PlainRanking::score(std::uint32_t user, std::uint32_t item) const {
  float score = biases_[item];
  for (std::size_t k = 0; k < options_.rank; ++k)
    score += users_[user * options_.rank + k] * columns_[item * options_.rank + k];
  return score;
}

bool PlainRanking::has(std::uint32_t user, std::uint32_t item) const {
  return std::binary_search(items_[user].begin(), items_[user].end(), item);
}

apps::RankingQuality PlainRanking::quality(std::size_t top) const {
  std::vector<std::vector<apps::ScoredItem>> held_out(problem_.rows);
  for (const io::Cell& cell : problem_.test) {
    if (!has(cell.row, cell.column))
      held_out[cell.row].push_back({score(cell.row, cell.column), cell.column});
  }
  apps::RankingSums sums;
  apps::HeldOutPositions positions;
  std::vector<bool> is_candidate(problem_.columns, true);
  for (std::uint32_t user = 0; user < problem_.rows; ++user) {
    if (held_out[user].empty()) continue;
    positions.begin(held_out[user]);
    for (const std::uint32_t item : items_[user]) is_candidate[item] = false;
    for (const apps::ScoredItem& held : held_out[user]) is_candidate[held.item] = false;
    for (std::uint32_t item = 0; item < problem_.columns; ++item)
      if (is_candidate[item]) positions.add_other({score(user, item), item});
    sums.add(positions.quality(top));
    is_candidate.assign(problem_.columns, true);
  }
  return sums.mean();
}

}  // namespace lapse::bench

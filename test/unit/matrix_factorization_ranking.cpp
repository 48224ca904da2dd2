// Losses of pairs of items, and measures of rankings, against values computed by hand.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "apps/matrix_factorization/ranking/ranking_loss.hpp"
#include "apps/matrix_factorization/ranking/ranking_quality.hpp"
#include "apps/matrix_factorization/ranking/ranking_report.hpp"
#include "apps/matrix_factorization/ranking/user_items.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;

namespace {

using Items = std::vector<std::uint32_t>;

Items items_of(const UserItems& items, std::uint64_t row) {
  return {items.of(row).begin(), items.of(row).end()};
}

// Held-out items 3 and 7 with the scores 5 and 2, among others with these scores.
HeldOutPositions two_held_out(const std::vector<ScoredItem>& others) {
  HeldOutPositions positions;
  positions.begin(std::vector<ScoredItem>{{2, 7}, {5, 3}});
  for (const ScoredItem& other : others) positions.add_other(other);
  return positions;
}

const std::vector<ScoredItem> kFourOthers{{6, 0}, {4, 1}, {3, 2}, {1, 9}};

}  // namespace

TEST_CASE("the items of users are distinct and sorted, without those that are left out") {
  const UserItems known(std::vector<lapse::io::Cell>{{2, 5, 1}, {0, 4, 1}, {2, 1, 1}, {2, 5, 1}}, 4);
  CHECK(items_of(known, 0) == Items{4});
  CHECK(items_of(known, 1).empty());
  CHECK(items_of(known, 2) == Items{1, 5});
  CHECK(items_of(known, 3).empty());
  CHECK(known.pairs() == 3);
  CHECK(known.has(2, 5));
  CHECK_FALSE(known.has(2, 4));
  CHECK_FALSE(known.has(3, 5));
  const UserItems held_out(std::vector<lapse::io::Cell>{{2, 5, 1}, {2, 9, 1}, {2, 0, 1}, {1, 5, 1}}, 4,
                           &known);
  CHECK(items_of(held_out, 1) == Items{5});
  CHECK(items_of(held_out, 2) == Items{0, 9});
  CHECK(held_out.pairs() == 3);
}

TEST_CASE("positions of held-out items count the candidates before them") {
  // Scores in order: 6, 5 (held out), 4, 3, 2 (held out), 1.
  CHECK(two_held_out(kFourOthers).positions() == std::vector<std::uint64_t>{2, 5});
  CHECK(two_held_out({}).positions() == std::vector<std::uint64_t>{1, 2});
  // Equal scores are in the order of items: 2 before 3, 4 after it; 8 after 7.
  CHECK(two_held_out({{5, 2}, {5, 4}, {2, 8}}).positions() == std::vector<std::uint64_t>{2, 4});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(two_held_out({{kInfinity, 1}, {-kInfinity, 2}}).positions() == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("measures of a ranking are those computed by hand") {
  const HeldOutPositions positions = two_held_out(kFourOthers);
  // Of the first three items, the second is held out; the other held-out item is the fifth.
  const RankingQuality top_3 = positions.quality(3);
  CHECK(top_3.users == 1);
  CHECK(top_3.precision == Approx(1.0 / 3));
  CHECK(top_3.recall == Approx(0.5));
  CHECK(top_3.average_precision == Approx(1.0 / 2 / 2));
  CHECK(top_3.ndcg == Approx((1 / std::log2(3.0)) / (1 + 1 / std::log2(3.0))));
  // Of 8 pairs, the first item loses one (to 6), the second three (to 6, 4 and 3).
  CHECK(top_3.auc == Approx(4.0 / 8));
  const RankingQuality top_5 = positions.quality(5);
  CHECK(top_5.precision == Approx(2.0 / 5));
  CHECK(top_5.recall == Approx(1));
  CHECK(top_5.average_precision == Approx((1.0 / 2 + 2.0 / 5) / 2));
  CHECK(top_5.ndcg == Approx((1 / std::log2(3.0) + 1 / std::log2(6.0)) / (1 + 1 / std::log2(3.0))));
  CHECK(top_5.auc == Approx(4.0 / 8));
  const RankingQuality top_1 = positions.quality(1);
  CHECK(top_1.precision + top_1.recall + top_1.average_precision + top_1.ndcg == 0);
}

TEST_CASE("lists shorter than the number of held-out items can be perfect") {
  HeldOutPositions positions;
  positions.begin(std::vector<ScoredItem>{{9, 0}, {8, 1}, {7, 2}});
  positions.add_other({1, 5});
  const RankingQuality quality = positions.quality(2);
  CHECK(quality.precision == 1);
  CHECK(quality.recall == Approx(2.0 / 3));
  CHECK(quality.average_precision == 1);
  CHECK(quality.ndcg == Approx(1));
  CHECK(quality.auc == 1);
}

TEST_CASE("equal scores count as half a pair, and users without other candidates do not count") {
  CHECK(two_held_out({{5, 2}, {5, 4}}).quality(10).auc == Approx(1 - (1.0 / 2 + 1.0 / 2 + 1 + 1) / 4));
  CHECK(two_held_out({}).quality(10).users == 0);
  // A second user starts anew.
  HeldOutPositions positions = two_held_out(kFourOthers);
  positions.begin(std::vector<ScoredItem>{{2, 7}});
  positions.add_other({3, 1});
  CHECK(positions.positions() == std::vector<std::uint64_t>{2});
  CHECK(positions.quality(10).auc == 0);
}

TEST_CASE("means are over the users that count") {
  RankingSums sums;
  sums.add({1, 0.5, 1, 0.25, 0.5, 0.75});
  sums.add({});
  sums.add({1, 0.25, 0, 0.75, 0, 0.25});
  const RankingQuality mean = sums.mean();
  CHECK(mean.users == 2);
  CHECK(mean.precision == 0.375);
  CHECK(mean.recall == 0.5);
  CHECK(mean.average_precision == 0.5);
  CHECK(mean.ndcg == 0.25);
  CHECK(mean.auc == 0.5);
  CHECK(RankingSums().mean().users == 0);
  CHECK(describe(mean, 5) == "NDCG@5 0.2500  MAP@5 0.5000  recall@5 0.5000  precision@5 0.3750  AUC 0.5000");
  CHECK(describe(RankingQuality{}, 5).empty());
  CHECK(quality_json(mean, 5).find(R"("test_ndcg_at_5": 0.25, "test_map_at_5": 0.5)") != std::string::npos);
  CHECK(quality_json(RankingQuality{}, 5).find(R"("test_auc": null)") != std::string::npos);
}

TEST_CASE("the loss bpr is the logistic loss of the margin, and its weight minus the derivative") {
  CHECK(bpr_loss(0).loss == Approx(std::log(2.0)));
  CHECK(bpr_loss(0).weight == 0.5F);
  for (const float margin : {-3.0F, -0.5F, 0.25F, 4.0F}) {
    CAPTURE(margin);
    CHECK(bpr_loss(margin).loss == Approx(std::log(1 + std::exp(-double{margin}))));
    CHECK(bpr_loss(margin).weight == Approx(1 / (1 + std::exp(double{margin}))));
  }
  CHECK(bpr_loss(-1000).loss == 1000);
  CHECK(bpr_loss(-1000).weight == 1);
  CHECK(bpr_loss(1000).loss == 0);
  CHECK(bpr_loss(1000).weight == 0);
}

TEST_CASE("the loss warp weights the hinge loss by the logarithm of the estimated rank") {
  CHECK(violates(0.99F));
  CHECK_FALSE(violates(1));
  CHECK(warp_loss(0.25F, 100, 1).weight == Approx(std::log(100.0)));
  CHECK(warp_loss(0.25F, 100, 1).loss == Approx(0.75 * std::log(100.0)));
  CHECK(warp_loss(-1, 100, 30).weight == Approx(std::log(3.0)));
  CHECK(warp_loss(-1, 100, 30).loss == Approx(2 * std::log(3.0)));
  CHECK(warp_loss(-1, 5, 10).weight == 0);
}

TEST_CASE("steps and gradients of a pair are those of the loss") {
  const bool biases = GENERATE(false, true);
  CAPTURE(biases);
  const FactorModel model(2, biases, 0);
  const PairSteps pair(model);
  const SgdSteps steps{.learning_rate = 0.1F, .l2_factors = 0.5F, .l2_biases = 0.25F};
  std::vector<float> user{1, 2}, positive{3, -1}, negative{0.5F, 1};
  if (biases) {
    user.push_back(0);
    positive.push_back(0.4F);
    negative.push_back(-0.8F);
  }
  // 1 - 2.5 without biases.
  CHECK(pair.margin(user.data(), positive.data(), negative.data()) == Approx(biases ? -0.3 : -1.5));
  std::vector<float> gradients(3 * model.length(), 1);  // they are added
  const std::size_t length = model.length();
  pair.add_gradients(user.data(), positive.data(), negative.data(), gradients.data(),
                     gradients.data() + length, gradients.data() + 2 * length, 2, steps);
  std::vector<double> expected{1 + 0.5 * 1 - 2 * 2.5, 1 + 0.5 * 2 - 2 * -2};
  if (biases) expected.push_back(1);
  for (const double each : {1 + 0.5 * 3 - 2 * 1, 1 + 0.5 * -1 - 2 * 2}) expected.push_back(each);
  if (biases) expected.push_back(1 + 0.25 * 0.4 - 2);
  for (const double each : {1 + 0.5 * 0.5 + 2 * 1, 1 + 0.5 * 1 + 2 * 2}) expected.push_back(each);
  if (biases) expected.push_back(1 + 0.25 * -0.8 + 2);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(gradients[i] == Approx(expected[i]));
  // A step goes against the gradients.
  std::vector<float> before = user;
  before.insert(before.end(), positive.begin(), positive.end());
  before.insert(before.end(), negative.begin(), negative.end());
  pair.step(user.data(), positive.data(), negative.data(), 2, steps);
  std::vector<float> after = user;
  after.insert(after.end(), positive.begin(), positive.end());
  after.insert(after.end(), negative.begin(), negative.end());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(double{after[i]} == Approx(double{before[i]} - 0.1 * (expected[i] - 1)));
}

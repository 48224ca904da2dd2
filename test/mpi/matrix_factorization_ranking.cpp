// Matrix factorization that ranks items, with the losses bpr and warp.
#include <mpi.h>

#include <algorithm>
#include <cmath>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/mpi/application_techniques.hpp"
#include "test/mpi/matrix_factorization_setup.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

// Users and items of four groups. A user has about half of the items of the own group, and few others; one
// in five is held out. All items are about as popular, so popularity does not predict what a user likes.
FactorizationProblem grouped_problem(std::uint32_t users = 160, std::uint32_t items = 80) {
  RandomEngine random(7);
  std::vector<io::Cell> train;
  std::vector<io::Cell> test;
  for (std::uint32_t user = 0; user < users; ++user) {
    for (std::uint32_t item = 0; item < items; ++item) {
      const std::uint64_t chance = user % 4 == item % 4 ? 50 : 2;
      if (random.below(100) >= chance) continue;
      (random.below(5) == 0 ? test : train).push_back({user, item, 1});
    }
  }
  return make_problem(users, items, std::move(train), std::move(test));
}

TrainingOptions ranking_training(FactorLoss loss) {
  TrainingOptions options = lapse::test::small_training(TrainingMode::intent);
  options.ranking.loss = loss;
  options.rank = 6;
  options.initial_scale = 0.1;
  options.l2_factors = 0.01;
  options.l2_biases = 0.01;
  options.update_rule.kind = UpdateRuleKind::adagrad;
  options.learning_rate.initial = 0.1;
  options.epochs = 30;
  options.evaluate_every = 30;
  options.runner.batch = 16;
  return options;
}

// The measures of all users, from all scores: the positions come from sorting.
RankingQuality sorted_quality(ParameterServer& server, const Trainer& trainer,
                              const FactorizationProblem& problem) {
  const std::vector<float> values = lapse::test::all_values(server, trainer.factors());
  const std::size_t length = trainer.model().length();
  const UserItems known(problem.train, problem.rows);
  const UserItems held_out(problem.test, problem.rows, &known);
  RankingSums sums;
  for (std::uint32_t user = 0; user < problem.rows; ++user) {
    std::vector<ScoredItem> candidates;
    for (std::uint32_t item = 0; item < problem.columns; ++item) {
      if (known.has(user, item)) continue;
      candidates.push_back(
          {trainer.model().predict(&values[user * length], &values[(problem.rows + item) * length]), item});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const ScoredItem& a, const ScoredItem& b) { return a.score > b.score; });
    const std::size_t top = trainer.options().ranking.top;
    RankingQuality quality{.users = 1};
    const auto own = static_cast<double>(held_out.of(user).size());
    if (own == 0) continue;
    double found = 0;
    double ideal = 0;
    double above = 0;  // held-out items so far
    double won = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto gain = 1 / std::log2(static_cast<double>(i) + 2);
      if (static_cast<double>(i) < own && i < top) ideal += gain;
      if (!held_out.has(user, candidates[i].item)) {
        won += above;
        continue;
      }
      ++above;
      if (i >= top) continue;
      ++found;
      quality.average_precision += found / static_cast<double>(i + 1);
      quality.ndcg += gain;
    }
    quality.precision = found / static_cast<double>(top);
    quality.recall = found / own;
    quality.average_precision /= std::min(own, static_cast<double>(top));
    quality.ndcg /= ideal;
    quality.auc = won / (own * (static_cast<double>(candidates.size()) - own));
    sums.add(quality);
  }
  return sums.mean();
}

void check_equal(const RankingQuality& found, const RankingQuality& expected) {
  CHECK(found.users == expected.users);
  CHECK(found.precision == Approx(expected.precision));
  CHECK(found.recall == Approx(expected.recall));
  CHECK(found.average_precision == Approx(expected.average_precision));
  CHECK(found.ndcg == Approx(expected.ndcg));
  CHECK(found.auc == Approx(expected.auc));
}

}  // namespace

TEST_CASE("both losses rank the items of a user's group first, on any number of workers") {
  const FactorLoss loss = GENERATE(FactorLoss::bpr, FactorLoss::warp);
  const bool optimiser = GENERATE(true, false);
  CAPTURE(to_string(loss), optimiser);
  const FactorizationProblem problem = grouped_problem();
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(adapm::Technique::adaptive));
  for (const auto& workers : lapse::test::worker_layouts(manager.ranks())) {
    TrainingOptions options = ranking_training(loss);
    options.workers = workers;
    options.biases = optimiser;
    if (!optimiser) {
      options.update_rule.kind = UpdateRuleKind::add;
      options.learning_rate.initial = loss == FactorLoss::bpr ? 0.1 : 0.03;
    }
    Trainer trainer(manager, problem, options);
    const RankingQuality untrained = trainer.evaluate_ranking();
    const RankingQuality popular = trainer.evaluate_popularity();
    trainer.run();
    const EpochRecord& last = trainer.epochs().back();
    REQUIRE(last.quality);
    check_equal(*last.quality, sorted_quality(manager.server(), trainer, problem));
    CHECK(*last.train_loss < 0.8 * *trainer.epochs().front().train_loss);
    CHECK(popular.ndcg < 0.2);
    CHECK(untrained.ndcg < 0.2);
    // A random order of the group, before all other items, would have about 0.38.
    CHECK(last.quality->ndcg > 0.28);
    CHECK(last.quality->auc > 0.8);
    CHECK(trainer.best() == &last);
    if (!trainer.model().has_biases()) continue;
    const std::vector<float> values = lapse::test::all_values(manager.server(), trainer.factors());
    for (std::size_t user = 0; user < problem.rows; ++user)
      CHECK(values[user * trainer.model().length() + options.rank] == 0);
  }
  manager.close();
}

TEST_CASE("ranking works under every technique and with every scheme of sampling") {
  const adapm::Technique technique = GENERATE(from_range(adapm::kTechniques));
  const adapm::SamplingScheme scheme = GENERATE(from_range(adapm::kSamplingSchemes));
  CAPTURE(adapm::to_string(technique), adapm::to_string(scheme));
  const FactorizationProblem problem = grouped_problem();
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(technique));
  TrainingOptions options = ranking_training(FactorLoss::warp);
  options.ranking.sampling = scheme;
  options.workers = {2};
  options.epochs = 8;
  options.evaluate_every = 8;
  Trainer trainer(manager, problem, options);
  trainer.run();
  // Without training it is 0.5. A rank's own items are a quarter of all where they never move.
  CHECK(trainer.epochs().back().quality->auc > (scheme == adapm::SamplingScheme::local ? 0.6 : 0.7));
  manager.close();
}

TEST_CASE("users who have all items, or all but one, end no training") {
  std::vector<io::Cell> train;
  for (std::uint32_t item = 0; item < 12; ++item) {
    train.push_back({0, item, 1});
    if (item != 5) train.push_back({1, item, 1});
    if (item % 2 == 0) train.push_back({2, item, 1});
  }
  const FactorLoss loss = GENERATE(FactorLoss::bpr, FactorLoss::warp);
  const FactorizationProblem problem =
      make_problem(3, 12, std::move(train), {{0, 3, 1}, {1, 5, 1}, {2, 1, 1}});
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(adapm::Technique::adaptive));
  Trainer trainer(manager, problem, ranking_training(loss));
  trainer.run();
  // User 0 has no candidate, user 1 no other one than the held-out item.
  CHECK(trainer.epochs().back().quality->users == 1);
  CHECK(std::isfinite(*trainer.epochs().back().train_loss));
  manager.close();
}

TEST_CASE("an item that a user has is no negative, if the user lacks only one") {
  std::vector<io::Cell> train;
  for (std::uint32_t item = 0; item < 12; ++item)
    if (item != 5) train.push_back({0, item, 1});
  const FactorizationProblem problem = make_problem(1, 12, std::move(train), {});
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(adapm::Technique::adaptive));
  TrainingOptions options = ranking_training(FactorLoss::bpr);
  // Items in memory (`local`) may all be the user's.
  options.ranking.sampling = adapm::SamplingScheme::naive;
  options.l2_factors = 0;
  options.l2_biases = 0;
  Trainer trainer(manager, problem, options);
  trainer.run();
  // Steps only ever raise the biases of the others.
  const std::vector<float> values = lapse::test::all_values(manager.server(), trainer.factors());
  for (std::size_t item = 0; item < 12; ++item) {
    const float bias = values[(1 + item) * trainer.model().length() + options.rank];
    CAPTURE(item, bias);
    CHECK((item == 5 ? bias < -0.2F : bias > 0.2F));
  }
  manager.close();
}

TEST_CASE("without held-out interactions the best epoch is that of the smallest loss") {
  FactorizationProblem problem = grouped_problem();
  problem.test.clear();
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(adapm::Technique::adaptive));
  TrainingOptions options = ranking_training(FactorLoss::bpr);
  options.evaluate_every = 1;
  options.epochs = 3;
  Trainer trainer(manager, problem, options);
  trainer.run();
  CHECK(trainer.epochs().back().quality->users == 0);
  REQUIRE(trainer.best() != nullptr);
  CHECK(trainer.best()->train_loss <= trainer.epochs().front().train_loss);
  manager.close();
}

TEST_CASE("losses that rank items refuse other modes on every rank") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(adapm::Technique::adaptive));
  TrainingOptions options = ranking_training(FactorLoss::bpr);
  options.runner.mode = TrainingMode::blocking;
  CHECK_THROWS_WITH(Trainer(manager, grouped_problem(), options), Contains("need the mode intent"));
  manager.close();
}

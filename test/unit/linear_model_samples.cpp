// The samples of workers, and the quality of predictions.
#include <cstddef>
#include <vector>

#include "apps/linear_model/cross_validation.hpp"
#include "apps/linear_model/test_samples.hpp"
#include "apps/linear_model/worker_samples.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;
using lapse::Key;
using lapse::RandomEngine;
using lapse::io::FeatureValue;
using lapse::io::SparseSamples;

namespace {

SparseSamples three_samples() {
  SparseSamples samples;
  samples.add(2, std::vector<FeatureValue>{{1, 0.5F}, {4, 2}});
  samples.add(3, std::vector<FeatureValue>{{0, 1}});
  samples.add(3, std::vector<FeatureValue>{{4, 1}, {7, 3}});
  return samples;
}

std::vector<Key> keys_of(const WorkerSamples& samples) {
  return {samples.keys().begin(), samples.keys().end()};
}

// Counts the pairs one by one.
double auc_of_pairs(const std::vector<Prediction>& predictions) {
  double ordered = 0;
  double pairs = 0;
  for (const Prediction& positive : predictions) {
    for (const Prediction& negative : predictions) {
      if (!positive.is_positive || negative.is_positive) continue;
      ++pairs;
      ordered += positive.value > negative.value ? 1 : positive.value == negative.value ? 0.5 : 0;
    }
  }
  return ordered / pairs;
}

}  // namespace

TEST_CASE("a worker has the features of its samples") {
  const std::vector<std::size_t> indices{0, 2};
  const WorkerSamples samples(three_samples(), indices, {.positive = 3, .features = 8});
  CHECK(keys_of(samples) == std::vector<Key>{Key{1}, Key{4}, Key{7}});
  REQUIRE(samples.size() == 2);
  CHECK(samples.number(1) == 2);
  CHECK(samples.label(0) == -1);
  CHECK(samples.label(1) == 1);
  CHECK(samples.squared_norm(0) == 4.25);
  CHECK(samples.squared_norm(1) == 10);
  const std::vector<double> weights{2, 3, -1};
  CHECK(dot(samples.features(0), weights.data()) == 7);
  CHECK(dot(samples.features(1), weights.data()) == 0);
  std::vector<double> sum(3);
  add(2, samples.features(1), sum.data());
  CHECK(sum == std::vector<double>{0, 2, 6});
}

TEST_CASE("a bias is a feature of all samples; features beyond the model's are left out") {
  const std::vector<std::size_t> indices{0, 1, 2};
  const SampleForm form{.positive = 3, .features = 5, .bias = 0.5};
  const WorkerSamples samples(three_samples(), indices, form);
  CHECK(form.keys() == 6);
  CHECK(keys_of(samples) == std::vector<Key>{Key{0}, Key{1}, Key{4}, Key{5}});
  CHECK(samples.squared_norm(2) == 1.25);
  const WorkerSamples none(three_samples(), {}, form);
  CHECK(none.size() == 0);
  CHECK(none.keys().empty());
}

TEST_CASE("the quality of predictions counts signs and pairs") {
  std::vector<Prediction> perfect{{2, true}, {-1, false}, {0.5, true}, {-3, false}};
  CHECK(prediction_quality(perfect).accuracy == 1);
  CHECK(prediction_quality(perfect).auc == 1);
  std::vector<Prediction> zero{{0, true}, {0, false}};
  CHECK(prediction_quality(zero).accuracy == 0.5);
  CHECK(prediction_quality(zero).auc == 0.5);
  std::vector<Prediction> one_class{{1, true}, {-1, true}};
  CHECK(prediction_quality(one_class).accuracy == 0.5);
  CHECK(prediction_quality(one_class).auc == 0.5);
  std::vector<Prediction> none;
  CHECK(prediction_quality(none).accuracy == 0);
  RandomEngine random(3);
  std::vector<Prediction> many;
  for (int i = 0; i < 200; ++i) {
    const bool is_positive = random.below(3) == 0;
    many.push_back({static_cast<double>(random.below(20)) + (is_positive ? 3 : 0), is_positive});
  }
  const double expected = auc_of_pairs(many);
  CHECK(prediction_quality(many).auc == Approx(expected));
}

TEST_CASE("folds: each has its share of the samples, also of those of one worker") {
  const std::uint32_t folds = 5;
  std::vector<int> of_all(folds);
  std::vector<int> of_worker(folds);
  for (std::uint64_t number = 0; number < 1000; ++number) {
    ++of_all.at(fold_of(number, folds));
    if (number % folds == 2) ++of_worker.at(fold_of(number, folds));
  }
  CHECK(of_all == std::vector<int>(folds, 200));
  for (const int samples : of_worker) CHECK(samples > 15);
}

TEST_CASE("folds: a subset keeps numbers, labels and features of the collection") {
  const SparseSamples all = three_samples();
  const SparseSamples some = all.subset([](std::uint64_t number) { return number != 1; });
  CHECK(some.samples() == 2);
  CHECK(some.number(1) == 2);
  CHECK(some.label(1) == 3);
  CHECK(some.features(1).back() == FeatureValue{7, 3});
  CHECK(some.all_samples() == 2);
  CHECK(some.all_entries() == 4);
  CHECK(some.all_features() == 8);
  CHECK(some.all_labels() == all.all_labels());
}

TEST_CASE("folds: the smallest of the best costs is taken") {
  const std::vector<CostQuality> qualities{
      {.cost = 10, .accuracy = .9}, {.cost = 1, .accuracy = .9}, {.cost = .1, .accuracy = .8}};
  CHECK(best_cost(qualities).cost == 1);
}

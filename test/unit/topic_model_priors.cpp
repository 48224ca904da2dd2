// The priors of a topic model are estimated from its counts.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "apps/topic_model/likelihood.hpp"
#include "apps/topic_model/prior_counts.hpp"
#include "apps/topic_model/prior_optimization.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using Bin = CountHistogram::Bin;

namespace {

constexpr std::uint64_t kWords = 400;
constexpr std::size_t kTopics = 3;

// Counts drawn as the model with these priors draws them: topic by topic from an urn.
struct DrawnCounts {
  explicit DrawnCounts(const TopicPriors& priors, std::size_t count) : words(kWords * kTopics) {
    RandomEngine random(7);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::int32_t>& topics = documents.emplace_back(kTopics);
      const std::uint64_t length = 30 + random.below(100);
      for (std::uint64_t token = 0; token < length; ++token) {
        double left = random.uniform() * (priors.all_alpha() + static_cast<double>(token));
        std::size_t topic = 0;
        for (; topic + 1 < kTopics && left >= topics[topic] + priors.alpha[topic]; ++topic)
          left -= topics[topic] + priors.alpha[topic];
        ++topics[topic];
      }
    }
    for (std::size_t topic = 0; topic < kTopics; ++topic) {
      for (const auto& topics : documents) totals[topic] += topics[topic];
      // A word that is there already with probability n / (n + W beta), else any.
      std::vector<std::size_t> drawn;
      for (std::int64_t token = 0; token < totals[topic]; ++token) {
        const double left = random.uniform() * (static_cast<double>(token) + kWords * priors.beta);
        const bool repeats = left < static_cast<double>(token);
        const std::size_t word = repeats ? drawn[static_cast<std::size_t>(left)] : random.below(kWords);
        drawn.push_back(word);
        ++words[word * kTopics + topic];
      }
    }
  }

  PriorCounts counts() const {
    PriorCounts counts(kTopics);
    for (const auto& topics : documents) counts.add_document(topics);
    counts.add_words(words);
    counts.add_totals(totals);
    return counts;
  }

  double likelihood(const TopicPriors& priors) const {
    const TopicLikelihood likelihood(priors);
    double sum = likelihood.word(words) + likelihood.totals(totals);
    for (const auto& topics : documents) sum += likelihood.document(topics);
    return sum;
  }

  std::vector<std::vector<std::int32_t>> documents;
  std::vector<std::int32_t> words;
  std::vector<std::int64_t> totals = std::vector<std::int64_t>(kTopics);
};

}  // namespace

TEST_CASE("a histogram has each count above zero in ascending order") {
  CountHistogram histogram;
  for (const std::int64_t count : {3, 0, 1000, 3, -2, 255, 256, 1}) histogram.add(count);
  histogram.add(1000, 4);
  CHECK(histogram.bins() == std::vector<Bin>{{1, 1}, {3, 2}, {255, 1}, {256, 1}, {1000, 5}});
  CHECK(CountHistogram().bins().empty());
}

TEST_CASE("counts of priors survive as bytes and add up") {
  PriorCounts counts(2);
  counts.add_document(std::vector<std::int32_t>{5, 0});
  counts.add_document(std::vector<std::int32_t>{5, 300});
  counts.add_words(std::vector<std::int32_t>{7, 0, 7, 1});
  counts.add_totals(std::vector<std::int64_t>{std::int64_t{1} << 40U, 12});
  PriorCounts sum(2);
  for (int i = 0; i < 2; ++i) sum.add_bytes(counts.to_bytes());
  CHECK(sum.topic(0).bins() == std::vector<Bin>{{5, 4}});
  CHECK(sum.topic(1).bins() == std::vector<Bin>{{300, 2}});
  CHECK(sum.documents().bins() == std::vector<Bin>{{5, 2}, {305, 2}});
  CHECK(sum.words().bins() == std::vector<Bin>{{1, 2}, {7, 4}});
  CHECK(sum.totals().bins() == std::vector<Bin>{{12, 2}, {std::int64_t{1} << 40U, 2}});
  const std::string bytes = counts.to_bytes();
  CHECK_THROWS_AS(sum.add_bytes(bytes.substr(0, bytes.size() - 1)), ProtocolError);
  CHECK_THROWS_AS(PriorCounts(1).add_bytes(bytes), ProtocolError);
  CHECK_THROWS_AS(PriorCounts(4).add_bytes(bytes), ProtocolError);
}

TEST_CASE("the priors that made the counts are found") {
  const TopicPriors made{.alpha = {2, 0.3, 0.05}, .beta = 0.2, .words = kWords};
  const DrawnCounts drawn(made, 4000);
  const TopicPriors found = optimized_priors(symmetric_priors(kTopics, 1, 0.01, kWords), drawn.counts());
  CHECK(found.words == kWords);
  for (std::size_t topic = 0; topic < kTopics; ++topic)
    CHECK(found.alpha[topic] == Approx(made.alpha[topic]).epsilon(0.1));
  CHECK(found.beta == Approx(made.beta).epsilon(0.1));
  // From another begin, too.
  const TopicPriors again = optimized_priors(symmetric_priors(kTopics, 20, 3, kWords), drawn.counts());
  CHECK(again.all_alpha() == Approx(found.all_alpha()).epsilon(0.01));
  CHECK(again.beta == Approx(found.beta).epsilon(0.01));
}

TEST_CASE("optimized priors are those of the greatest likelihood") {
  const DrawnCounts drawn({.alpha = {1, 0.4, 0.1}, .beta = 0.1, .words = kWords}, 300);
  const TopicPriors found = optimized_priors(symmetric_priors(kTopics, 1, 0.01, kWords), drawn.counts());
  const double likelihood = drawn.likelihood(found);
  CHECK(likelihood > drawn.likelihood(symmetric_priors(kTopics, 1, 0.01, kWords)));
  for (const double factor : {0.9, 1.1}) {
    TopicPriors other = found;
    other.beta *= factor;
    CHECK(drawn.likelihood(other) < likelihood);
    for (std::size_t topic = 0; topic < kTopics; ++topic) {
      other = found;
      other.alpha[topic] *= factor;
      CHECK(drawn.likelihood(other) < likelihood);
    }
  }
}

TEST_CASE("estimates have limits") {
  PriorCounts counts(2);
  for (int i = 0; i < 1000; ++i) counts.add_document(std::vector<std::int32_t>{8, 0});
  counts.add_words(std::vector<std::int32_t>{8000, 0});
  counts.add_totals(std::vector<std::int64_t>{8000, 0});
  const TopicPriors found = optimized_priors(symmetric_priors(2, 0.1, 0.1, 5), counts);
  CHECK(found.alpha[1] == kMinEstimatedPrior);
  CHECK(found.alpha[0] >= kMinEstimatedPrior);
  CHECK(found.alpha[0] <= kMaxEstimatedPrior);
  CHECK(found.beta >= kMinEstimatedPrior);
  // Without tokens, the priors stay.
  CHECK(optimized_priors(symmetric_priors(2, 0.1, 0.2, 5), PriorCounts(2)).alpha ==
        std::vector<double>{0.1, 0.1});
}

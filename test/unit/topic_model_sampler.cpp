// Samplers of topics draw from the posterior distribution.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "apps/topic_model/dense_sampler.hpp"
#include "apps/topic_model/likelihood.hpp"
#include "apps/topic_model/topic_sampler.hpp"
#include "apps/topic_model/tree_sampler.hpp"
#include "apps/topic_model/word_tokens.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::io::BagOfWords;
using lapse::io::WordCount;

namespace {

enum class Kind { dense, tree };

std::unique_ptr<TopicSampler> make_sampler(Kind kind, const TopicPriors& priors) {
  if (kind == Kind::dense) return std::make_unique<DenseSampler>(priors);
  return std::make_unique<TreeSampler>(priors);
}

// All counts of a small collection.
struct TopicCounts {
  TopicCounts(WordTokens& of, std::size_t topics_of_model)
      : topics(topics_of_model),
        documents(of.documents() * topics),
        words(of.words().size() * topics),
        totals(topics) {
    for (std::size_t word = 0; word < of.words().size(); ++word) {
      for (const WordTokens::Token& token : of.tokens(word)) {
        ++documents[token.document * topics + token.topic];
        ++words[word * topics + token.topic];
        ++totals[token.topic];
      }
    }
  }

  double likelihood(const TopicPriors& priors) const {
    const TopicLikelihood likelihood(priors);
    double sum = likelihood.totals(totals);
    for (std::size_t i = 0; i < documents.size(); i += topics)
      sum += likelihood.document(std::span(documents).subspan(i, topics));
    for (std::size_t i = 0; i < words.size(); i += topics)
      sum += likelihood.word(std::span(words).subspan(i, topics));
    return sum;
  }

  std::size_t topics;
  std::vector<std::int32_t> documents;
  std::vector<std::int32_t> words;
  std::vector<std::int64_t> totals;
};

// Draws the topics of all tokens once.
void sweep(TopicSampler& sampler, WordTokens& tokens, TopicCounts& counts, RandomEngine& random) {
  sampler.set_totals(counts.totals);
  for (std::size_t word = 0; word < tokens.words().size(); ++word)
    sampler.resample(tokens.tokens(word),
                     std::span(counts.words).subspan(word * counts.topics, counts.topics), random);
  for (std::size_t topic = 0; topic < counts.topics; ++topic)
    counts.totals[topic] += sampler.total_changes()[topic];
}

BagOfWords small_collection() {
  BagOfWords bag(3);
  bag.add(std::vector<WordCount>{{0, 2}, {1, 1}});
  bag.add(std::vector<WordCount>{{1, 1}, {2, 1}});
  return bag;
}

}  // namespace

TEST_CASE("the topics of all tokens together have their posterior probabilities") {
  const BagOfWords bag = small_collection();
  WordTokens tokens(bag, std::vector<std::size_t>{0, 1});
  const Kind kind = GENERATE(Kind::dense, Kind::tree);
  const std::size_t topics = GENERATE(2U, 3U);
  const bool symmetric = GENERATE(true, false);
  TopicPriors priors = symmetric_priors(topics, 0.7, 0.3, 3);
  if (!symmetric) priors.alpha.back() = 0.1;
  const auto number_of = [&] {
    std::size_t number = 0;
    for (const WordTokens::Token& token : tokens.all()) number = number * topics + token.topic;
    return number;
  };
  // Exactly, by enumeration.
  std::vector<double> expected(topics == 2 ? 32 : 243);
  double all = 0;
  for (std::size_t assignment = 0; assignment < expected.size(); ++assignment) {
    std::size_t rest = assignment;
    for (std::size_t i = tokens.size(); i-- > 0; rest /= topics)
      tokens.all()[i].topic = static_cast<TopicId>(rest % topics);
    REQUIRE(number_of() == assignment);
    expected[assignment] = std::exp(TopicCounts(tokens, topics).likelihood(priors));
    all += expected[assignment];
  }
  TopicCounts counts(tokens, topics);
  const auto sampler = make_sampler(kind, priors);
  sampler->count_documents(tokens);
  RandomEngine random(1, topics);
  constexpr std::size_t kSweeps = 300'000;
  std::vector<std::size_t> found(expected.size());
  for (std::size_t i = 0; i < kSweeps; ++i) {
    sweep(*sampler, tokens, counts, random);
    ++found[number_of()];
  }
  double distance = 0;  // in total variation
  for (std::size_t assignment = 0; assignment < expected.size(); ++assignment)
    distance += std::abs(static_cast<double>(found[assignment]) / kSweeps - expected[assignment] / all) / 2;
  CHECK(distance < (topics == 2 ? 0.008 : 0.025));
}

TEST_CASE("with many topics, two tokens of a document share one as often as the priors say") {
  BagOfWords bag(2);
  bag.add(std::vector<WordCount>{{0, 1}, {1, 1}});
  WordTokens tokens(bag, std::vector<std::size_t>{0});
  const auto sampler_kind = GENERATE(Kind::dense, Kind::tree);
  const TopicPriors priors = symmetric_priors(40, 0.05, 0.5, 2);
  TopicCounts counts(tokens, priors.topics());
  const auto sampler = make_sampler(sampler_kind, priors);
  sampler->count_documents(tokens);
  // With one topic for both: alpha (alpha + 1) for the document, beta^2 / (2 beta (2 beta + 1)) for the
  // words.
  const double same = (priors.alpha.front() + 1) / (2 * priors.beta + 1);
  const double other = 39 * priors.alpha.front() / (2 * priors.beta);
  const double expected = same / (same + other);
  RandomEngine random(3, 1);
  constexpr int kSweeps = 100'000;
  int shared = 0;
  for (int i = 0; i < kSweeps; ++i) {
    sweep(*sampler, tokens, counts, random);
    shared += tokens.all()[0].topic == tokens.all()[1].topic ? 1 : 0;
  }
  CHECK(std::abs(static_cast<double>(shared) / kSweeps - expected) < 0.01);
}

TEST_CASE("counts follow the topics that are drawn, with any number of topics") {
  const BagOfWords bag = small_collection();
  const Kind kind = GENERATE(Kind::dense, Kind::tree);
  for (const std::size_t topics : {1U, 2U, 15U, 16U, 17U, 100U}) {
    CAPTURE(topics);
    const TopicPriors priors = symmetric_priors(topics, 0.1, 0.01, 3);
    WordTokens tokens(bag, std::vector<std::size_t>{0, 1});
    TopicCounts counts(tokens, topics);
    const auto sampler = make_sampler(kind, priors);
    sampler->count_documents(tokens);
    RandomEngine random(2, topics);
    std::vector<bool> drawn(topics);
    for (std::size_t i = 0; i < 400 * topics; ++i) {
      sweep(*sampler, tokens, counts, random);
      for (const WordTokens::Token& token : tokens.all()) {
        REQUIRE(token.topic < topics);
        drawn[token.topic] = true;
      }
    }
    const TopicCounts again(tokens, topics);
    CHECK(counts.words == again.words);
    CHECK(counts.totals == again.totals);
    CHECK(drawn == std::vector<bool>(topics, true));
  }
}

TEST_CASE("old counts of other workers, below zero, do not harm the draws") {
  BagOfWords bag(3);
  bag.add(std::vector<WordCount>{{1, 1}});
  WordTokens tokens(bag, std::vector<std::size_t>{0});
  const TopicPriors priors = symmetric_priors(4, 0.5, 0.01, 3);
  const auto sampler = make_sampler(GENERATE(Kind::dense, Kind::tree), priors);
  sampler->count_documents(tokens);
  std::vector<std::int32_t> word = {-3, 0, 2, -1};
  sampler->set_totals(std::vector<std::int64_t>{-5, 0, 4, 1});
  RandomEngine random(3);
  std::vector<bool> drawn(4);
  for (int i = 0; i < 1000; ++i) {
    sampler->resample(tokens.all(), word, random);
    REQUIRE(tokens.all().front().topic < 4);
    drawn[tokens.all().front().topic] = true;
  }
  CHECK(drawn[2]);
  CHECK(word[0] + word[1] + word[2] + word[3] == -2);
}

TEST_CASE("the sampler depends on the number of topics") {
  const auto many = make_topic_sampler(symmetric_priors(1000, 0.1, 0.01, 3));
  CHECK(dynamic_cast<TreeSampler*>(many.get()) != nullptr);
  const auto few = make_topic_sampler(symmetric_priors(100, 0.1, 0.01, 3));
  CHECK(dynamic_cast<DenseSampler*>(few.get()) != nullptr);
}

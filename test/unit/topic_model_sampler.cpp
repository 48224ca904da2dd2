// Samplers of topics draw from the posterior distribution.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "apps/topic_model/dense_sampler.hpp"
#include "apps/topic_model/likelihood.hpp"
#include "apps/topic_model/word_tokens.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::io::BagOfWords;
using lapse::io::WordCount;

namespace {

// All counts of a small collection.
struct TopicCounts {
  TopicCounts(WordTokens& of, const TopicPriors& priors)
      : documents(of.documents(), priors.topics),
        words(of.words().size() * priors.topics),
        totals(priors.topics) {
    for (std::size_t word = 0; word < of.words().size(); ++word) {
      for (const WordTokens::Token& token : of.tokens(word)) {
        ++documents.document(token.document)[token.topic];
        ++words[word * priors.topics + token.topic];
        ++totals[token.topic];
      }
    }
  }

  double likelihood(std::size_t of_documents, const TopicPriors& priors) const {
    const TopicLikelihood likelihood(priors);
    double sum = likelihood.totals(totals);
    for (std::size_t i = 0; i < of_documents; ++i)
      sum += likelihood.document({documents.document(i), priors.topics});
    for (std::size_t i = 0; i < words.size(); i += priors.topics)
      sum += likelihood.word(std::span(words).subspan(i, priors.topics));
    return sum;
  }

  DocumentTopics documents;
  std::vector<std::int32_t> words;
  std::vector<std::int64_t> totals;
};

// Draws the topics of all tokens once.
void sweep(DenseSampler& sampler, WordTokens& tokens, TopicCounts& counts, const TopicPriors& priors,
           RandomEngine& random) {
  sampler.set_totals(counts.totals);
  for (std::size_t word = 0; word < tokens.words().size(); ++word) {
    sampler.begin_word(std::span(counts.words).subspan(word * priors.topics, priors.topics));
    for (WordTokens::Token& token : tokens.tokens(word))
      sampler.resample(token, counts.documents.document(token.document), random);
  }
  for (std::size_t topic = 0; topic < priors.topics; ++topic)
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
  const std::size_t topics = GENERATE(2U, 3U);
  const TopicPriors priors{.topics = topics, .alpha = 0.7, .beta = 0.3, .words = 3};
  const auto number_of = [&] {
    std::size_t number = 0;
    for (const WordTokens::Token& token : tokens.all()) number = number * topics + token.topic;
    return number;
  };
  // Exactly, by enumeration.
  std::vector<double> expected(static_cast<std::size_t>(std::pow(topics, tokens.size()) + 0.5));
  double all = 0;
  for (std::size_t assignment = 0; assignment < expected.size(); ++assignment) {
    std::size_t rest = assignment;
    for (std::size_t i = tokens.size(); i-- > 0; rest /= topics)
      tokens.all()[i].topic = static_cast<TopicId>(rest % topics);
    REQUIRE(number_of() == assignment);
    expected[assignment] = std::exp(TopicCounts(tokens, priors).likelihood(tokens.documents(), priors));
    all += expected[assignment];
  }
  TopicCounts counts(tokens, priors);
  DenseSampler sampler(priors);
  RandomEngine random(1, topics);
  constexpr std::size_t kSweeps = 300'000;
  std::vector<std::size_t> found(expected.size());
  for (std::size_t i = 0; i < kSweeps; ++i) {
    sweep(sampler, tokens, counts, priors, random);
    ++found[number_of()];
  }
  double distance = 0;  // in total variation
  for (std::size_t assignment = 0; assignment < expected.size(); ++assignment)
    distance += std::abs(static_cast<double>(found[assignment]) / kSweeps - expected[assignment] / all) / 2;
  CHECK(distance < (topics == 2 ? 0.008 : 0.025));
}

TEST_CASE("counts follow the topics that are drawn, with any number of topics") {
  const BagOfWords bag = small_collection();
  for (const std::size_t topics : {1U, 2U, 15U, 16U, 17U, 100U}) {
    CAPTURE(topics);
    const TopicPriors priors{.topics = topics, .alpha = 0.1, .beta = 0.01, .words = 3};
    WordTokens tokens(bag, std::vector<std::size_t>{0, 1});
    TopicCounts counts(tokens, priors);
    DenseSampler sampler(priors);
    RandomEngine random(2, topics);
    std::vector<bool> drawn(topics);
    for (std::size_t i = 0; i < 400 * topics; ++i) {
      sweep(sampler, tokens, counts, priors, random);
      for (const WordTokens::Token& token : tokens.all()) {
        REQUIRE(token.topic < topics);
        drawn[token.topic] = true;
      }
    }
    const TopicCounts again(tokens, priors);
    CHECK(counts.words == again.words);
    CHECK(counts.totals == again.totals);
    for (std::size_t i = 0; i < tokens.documents(); ++i)
      for (std::size_t topic = 0; topic < DocumentTopics::padded(topics); ++topic)
        REQUIRE(counts.documents.document(i)[topic] == again.documents.document(i)[topic]);
    CHECK(drawn == std::vector<bool>(topics, true));
  }
}

TEST_CASE("old counts of other workers, below zero, do not harm the draws") {
  const TopicPriors priors{.topics = 4, .alpha = 0.5, .beta = 0.01, .words = 3};
  DenseSampler sampler(priors);
  std::vector<std::int32_t> word = {-3, 0, 2, -1};
  std::vector<std::int32_t> document(DocumentTopics::padded(4));
  document[0] = 1;
  sampler.set_totals(std::vector<std::int64_t>{-5, 0, 4, 1});
  sampler.begin_word(word);
  RandomEngine random(3);
  WordTokens::Token token{0, 0};
  for (int i = 0; i < 1000; ++i) {
    sampler.resample(token, document.data(), random);
    REQUIRE(token.topic < 4);
    REQUIRE(document[token.topic] == 1);
  }
}

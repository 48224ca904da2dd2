// Evaluations of topics: their coherence, and how well they predict held-out documents.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "apps/topic_model/coherence.hpp"
#include "apps/topic_model/document_mixture.hpp"
#include "apps/topic_model/word_tokens.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::io::BagOfWords;
using lapse::io::WordCount;

TEST_CASE("npmi is 1 for words of the same documents and -1 for words that never meet") {
  CHECK(npmi(5, 5, 5, 100) == Approx(1));
  CHECK(npmi(10, 20, 2, 100) == Approx(0).margin(1e-12));
  CHECK(npmi(10, 20, 0, 100) == -1);
  CHECK(npmi(7, 7, 7, 7) == 0);
  CHECK(npmi(30, 40, 20, 100) == Approx(std::log(.2 / (.3 * .4)) / -std::log(.2)));
}

TEST_CASE("the coherence of a topic is the mean of its pairs of words") {
  BagOfWords bag(5);
  bag.add(std::vector<WordCount>{{0, 3}, {1, 1}});
  bag.add(std::vector<WordCount>{{0, 1}, {1, 1}, {2, 2}});
  bag.add(std::vector<WordCount>{{2, 1}, {4, 1}});
  bag.add(std::vector<WordCount>{{0, 1}});
  const TopicWordLists topics = {{1, 0, 2}, {4}, {}, {3, 4}};
  Cooccurrences all(topics);
  // In two parts, like those of two workers.
  all.add(WordTokens(bag, std::vector<std::size_t>{0, 2}));
  all.add(WordTokens(bag, std::vector<std::size_t>{1, 3}));
  const auto counts = all.counts();
  CHECK(std::vector<std::int64_t>(counts.begin(), counts.end()) ==
        std::vector<std::int64_t>{2, 3, 2, 2, 1, 1, 1, 0, 1, 0});
  const double expected = (npmi(2, 3, 2, 4) + npmi(2, 2, 1, 4) + npmi(3, 2, 1, 4)) / 3;
  CHECK(all.coherence(0, 4).value() == Approx(expected));
  CHECK_FALSE(all.coherence(1, 4).has_value());
  CHECK_FALSE(all.coherence(2, 4).has_value());
  CHECK(all.coherence(3, 4).value() == -1);
}

TEST_CASE("the mixture of a document follows its words") {
  // Word 0 is of topic 0 alone, word 1 of topics 1 and 2, word 2 of any.
  const std::vector<std::vector<float>> of_topics = {{.8F, 0, 0}, {0, .5F, .5F}, {.2F, .5F, .5F}};
  const std::vector<double> alpha = {.1, .2, .4};
  DocumentMixture mixture(alpha);
  const auto infer = [&](const std::vector<WordCount>& words) {
    std::vector<const float*> rows(words.size());
    std::ranges::transform(words, rows.begin(), [&](WordCount word) { return of_topics[word.word].data(); });
    const auto theta = mixture.infer(words, rows);
    CHECK(std::accumulate(theta.begin(), theta.end(), 0.0) == Approx(1).epsilon(1e-5));
    return std::vector<double>(theta.begin(), theta.end());
  };
  auto theta = infer({{0, 6}});
  CHECK(theta[0] == Approx(6.1 / 6.7).epsilon(1e-5));
  CHECK(theta[1] == Approx(.2 / 6.7).epsilon(1e-5));
  theta = infer({{0, 3}, {1, 3}});
  CHECK(theta[0] == Approx(3.1 / 6.7).epsilon(1e-5));
  CHECK(theta[2] > theta[1]);  // by the priors alone
  theta = infer({});
  CHECK(theta[0] == Approx(1. / 7));
  CHECK(theta[2] == Approx(4. / 7));
}

TEST_CASE("a mixture is a fixed point in which each token sees the others") {
  for (const std::size_t topics : {2U, 8U, 21U}) {
    CAPTURE(topics);
    RandomEngine random(1, topics);
    const std::vector<WordCount> words = {{0, 1}, {1, 1}, {2, 2}};
    const std::vector<double> alpha(topics, 0.2);
    std::vector<std::vector<float>> of_topics(words.size(), std::vector<float>(topics));
    std::vector<const float*> rows;
    for (auto& row : of_topics) {
      for (float& weight : row) weight = static_cast<float>(std::pow(random.uniform(), 3));
      rows.push_back(row.data());
    }
    // By the definition, for a long time.
    std::vector<std::vector<double>> shares(words.size(), std::vector<double>(topics));
    std::vector<double> expected(topics);
    for (int i = 0; i < 3000; ++i) {
      std::vector<double> next(topics);
      for (std::size_t word = 0; word < words.size(); ++word) {
        double all = 0;
        for (std::size_t k = 0; k < topics; ++k) {
          const double others = expected[k] - shares[word][k];
          shares[word][k] = static_cast<double>(of_topics[word][k]) * (others + alpha[k]);
          all += shares[word][k];
        }
        for (std::size_t k = 0; k < topics; ++k) next[k] += words[word].count * (shares[word][k] /= all);
      }
      expected = next;
    }
    DocumentMixture mixture(alpha);
    const auto theta = mixture.infer(words, rows);
    for (std::size_t k = 0; k < topics; ++k) {
      CHECK(theta[k] ==
            Approx((expected[k] + alpha[k]) / (4 + static_cast<double>(topics) * 0.2)).margin(0.01));
    }
  }
}

TEST_CASE("documents with many topics have a mixture, too") {
  // More topics than a vector has lanes, not a multiple of them.
  constexpr std::size_t kMany = 21;
  std::vector<float> first(kMany, 1e-4F);
  std::vector<float> last(kMany, 1e-4F);
  first.front() = 1;
  last.back() = 1;
  DocumentMixture mixture(std::vector<double>(kMany, .01));
  const std::vector<WordCount> words = {{0, 10}, {1, 30}};
  const auto theta = mixture.infer(words, std::vector<const float*>{first.data(), last.data()});
  CHECK(theta.front() == Approx(.25).epsilon(0.02));
  CHECK(theta.back() == Approx(.75).epsilon(0.02));
}

TEST_CASE("halves of a document have its tokens, one half each") {
  const std::vector<WordCount> words = {{4, 7}, {2, 1}, {9, 3}, {0, 12}};
  const auto tokens = [](const std::vector<WordCount>& half) {
    std::uint64_t sum = 0;
    for (const WordCount& word : half) sum += word.count;
    return sum;
  };
  bool differs = false;
  const HalvedDocument before = halve(words, 1, 0);
  for (std::uint64_t number = 0; number < 100; ++number) {
    const HalvedDocument halves = halve(words, 1, number);
    CHECK(tokens(halves.first) == 12);
    CHECK(tokens(halves.second) == 11);
    std::map<std::uint32_t, std::uint32_t> all;
    for (const auto& half : {halves.first, halves.second}) {
      for (const WordCount& word : half) {
        CHECK(word.count > 0);
        all[word.word] += word.count;
      }
    }
    for (const WordCount& word : words) CHECK(all[word.word] == word.count);
    differs = differs || halves.first != before.first;
    CHECK(halve(words, 1, number).first == halves.first);
  }
  CHECK(differs);
  CHECK(halve(std::vector<WordCount>{{3, 1}}, 1, 0).second.empty());
  CHECK(halve({}, 1, 0).first.empty());
}

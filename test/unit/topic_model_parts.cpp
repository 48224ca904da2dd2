// Parts of the topic model: tokens by word, the likelihood, lists of topics.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/topic_model/likelihood.hpp"
#include "apps/topic_model/top_words.hpp"
#include "apps/topic_model/word_tokens.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::io::BagOfWords;
using lapse::io::WordCount;

TEST_CASE("tokens are grouped by word, in the order of documents") {
  BagOfWords bag(6);
  bag.add(std::vector<WordCount>{{4, 1}, {1, 2}});
  bag.add(std::vector<WordCount>{{1, 1}});
  bag.add(std::vector<WordCount>{{5, 1}, {4, 2}, {1, 1}});
  WordTokens tokens(bag, std::vector<std::size_t>{0, 2});
  CHECK(tokens.documents() == 2);
  CHECK(tokens.number(1) == 2);
  CHECK(tokens.length(1) == 4);
  CHECK(tokens.size() == 7);
  const auto words = tokens.words();
  REQUIRE(std::vector<io::Vocabulary::Id>(words.begin(), words.end()) ==
          std::vector<io::Vocabulary::Id>{1, 4, 5});
  const std::vector<std::vector<std::uint32_t>> documents = {{0, 0, 1}, {0, 1, 1}, {1}};
  for (std::size_t word = 0; word < words.size(); ++word) {
    std::vector<std::uint32_t> found;
    for (const WordTokens::Token& token : tokens.tokens(word)) found.push_back(token.document);
    CHECK(found == documents[word]);
  }
  CHECK(WordTokens(bag, std::vector<std::size_t>{}).words().empty());
}

TEST_CASE("the likelihood is the product of what each token adds") {
  // Words and topics of the tokens of two documents.
  struct Token {
    std::size_t document, word, topic;
  };
  const std::vector<Token> tokens = {{0, 0, 0}, {0, 0, 0}, {0, 2, 1}, {0, 0, 2}, {1, 2, 1},
                                     {1, 1, 1}, {1, 2, 1}, {1, 0, 0}, {1, 2, 1}};
  const TopicPriors priors{.alpha = {0.7, 0.1, 2.5}, .beta = 0.2, .words = 4};
  std::vector<std::vector<std::int32_t>> documents(2, std::vector<std::int32_t>(3));
  std::vector<std::vector<std::int32_t>> words(4, std::vector<std::int32_t>(3));
  std::vector<std::int64_t> totals(3);
  double expected = 0;
  for (const Token& token : tokens) {
    std::int64_t length = 0;
    for (const std::int32_t count : documents[token.document]) length += count;
    expected += std::log((documents[token.document][token.topic] + priors.alpha[token.topic]) /
                         (static_cast<double>(length) + 3.3));
    expected +=
        std::log((words[token.word][token.topic] + 0.2) / (static_cast<double>(totals[token.topic]) + 0.8));
    ++documents[token.document][token.topic];
    ++words[token.word][token.topic];
    ++totals[token.topic];
  }
  const TopicLikelihood likelihood(priors);
  double sum = likelihood.totals(totals);
  for (const auto& counts : documents) sum += likelihood.document(counts);
  for (const auto& counts : words) sum += likelihood.word(counts);
  CHECK(sum == Approx(expected).epsilon(1e-12));
}

TEST_CASE("large counts, which no table has, continue small ones") {
  const LogRising rising(0.01);
  CHECK(rising(0) == 0);
  CHECK(rising(1) == Approx(std::log(0.01)));
  for (std::int64_t n = 4090; n < 4100; ++n)
    CHECK(rising(n + 1) - rising(n) == Approx(std::log(static_cast<double>(n) + 0.01)));
}

TEST_CASE("topics are listed by size, with their words") {
  const std::vector<TopicWords> topics = {{10, {{2, 6}, {0, 4}}, -0.25}, {0, {}, {}}, {30, {{1, 30}}, {}}};
  io::Vocabulary vocabulary;
  for (const char* const word : {"sea", "ship", "war"}) vocabulary.add(word);
  CHECK(to_text(topics, vocabulary) ==
        "3\t0.75000\t-\tship\n1\t0.25000\t-0.2500\twar sea\n2\t0.00000\t-\t\n");
  CHECK(to_text(topics, {}) == "3\t0.75000\t-\t2\n1\t0.25000\t-0.2500\t3 1\n2\t0.00000\t-\t\n");
  CHECK(to_text({{0, {}, {}}}, {}) == "1\t0.00000\t-\t\n");
}

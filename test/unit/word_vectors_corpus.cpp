// The text of the word vectors: words, vocabulary, sentences.
#include "apps/common/corpus.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "apps/common/word_splitter.hpp"
#include "apps/word_vectors/sentence_reader.hpp"
#include "apps/word_vectors/subsampling.hpp"
#include "apps/word_vectors/vector_tables.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using lapse::test::TemporaryDirectory;

namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  WordSplitter splitter(line);
  for (std::string_view word; splitter.next(word);) words.emplace_back(word);
  return words;
}

// A rank alone.
std::vector<std::vector<std::byte>> gather_alone(std::vector<std::byte> own) {
  return {std::move(own)};
}

Corpus corpus_of(const std::vector<std::string>& files, std::uint64_t min_count) {
  return make_corpus({files, min_count}, count_words(files, {}), gather_alone);
}

// The words 0, 1, ... with these counts, which must fall.
Corpus corpus_with_counts(const std::vector<std::uint64_t>& counts) {
  Corpus corpus;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    corpus.words.add(std::to_string(i), counts[i]);
    corpus.occurrences += counts[i];
  }
  return corpus;
}

}  // namespace

TEST_CASE("words are separated by blanks, tabs and carriage returns") {
  CHECK(words_of("one two") == std::vector<std::string>{"one", "two"});
  CHECK(words_of("  one \t  t\xc3\xa9o  ") == std::vector<std::string>{"one", "t\xc3\xa9o"});
  CHECK(words_of("").empty());
  CHECK(words_of(" \t \r").empty());
  CHECK(words_of("one\rtwo\r\r three\r") == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("a text is counted and read in its form") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("text", "The sea, the SEA.\nA sea\n")};
  const TextForm form{.lower_case = true, .punctuation = Punctuation::drop};
  const Corpus corpus =
      make_corpus({.files = files, .min_count = 2, .form = form}, count_words(files, {}, form), gather_alone);
  REQUIRE(corpus.words.size() == 2);
  CHECK(corpus.words.name(0) == "sea");
  CHECK(corpus.words.count(0) == 3);
  CHECK(corpus.words.name(1) == "the");
  SentenceReader reader(corpus, {});
  Sentence sentence;
  REQUIRE(reader.next(sentence));
  CHECK(sentence == Sentence{1, 0, 1, 0});
  REQUIRE(reader.next(sentence));
  CHECK(sentence == Sentence{0});
}

TEST_CASE("the vocabulary of a text has the frequent words of all its files, the most frequent first") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("a", "x b x\n\nc b x\n"),
                                       directory.write("b", "b b  d\n")};
  const Corpus corpus = corpus_of(files, 2);
  REQUIRE(corpus.words.size() == 2);
  CHECK(corpus.words.name(0) == "b");
  CHECK(corpus.words.count(0) == 4);
  CHECK(corpus.words.name(1) == "x");
  CHECK(corpus.words.count(1) == 3);
  CHECK(corpus.occurrences == 7);
  CHECK(corpus_of(files, 0).words.size() == 4);
  // The parts of the files together have the same words.
  std::vector<std::vector<std::byte>> parts;
  for (std::uint32_t part = 0; part < 3; ++part) parts.push_back(count_words(files, {part, 3}).to_bytes());
  const Corpus by_parts = make_corpus({files, 2}, {}, [&](std::vector<std::byte>) { return parts; });
  CHECK(by_parts.words.to_bytes() == corpus.words.to_bytes());
}

TEST_CASE("a text without frequent words is an error that says so") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("rare", "a b c a\n")};
  CHECK_THROWS_WITH(corpus_of(files, 3), Contains("none of the 3 different words") && Contains("'a', 2"));
  CHECK_THROWS_AS(corpus_of(files, 3), ConfigurationError);
  CHECK_THROWS_WITH(corpus_of({directory.write("blank", " \n\n")}, 0), Contains("no words"));
}

TEST_CASE("a vocabulary has no stop words") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("text", "the sea the ship a sea\n")};
  CorpusOptions options{.files = files, .min_count = 2};
  options.stop_words.add("the");
  options.stop_words.add("absent");
  const Corpus corpus = make_corpus(options, count_words(files, {}), gather_alone);
  REQUIRE(corpus.words.size() == 1);
  CHECK(corpus.words.name(0) == "sea");
  CHECK(corpus.occurrences == 2);
  options.stop_words.add("sea");
  CHECK_THROWS_WITH(make_corpus(options, count_words(files, {}), gather_alone),
                    Contains("all words of the text that occur 2 times are stop words"));
}

TEST_CASE("what is no text is refused with its place") {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& text, const std::string& expected) {
    CAPTURE(expected);
    const std::vector<std::string> files{directory.write("text", text)};
    CHECK_THROWS_AS(count_words(files, {}), FileError);
    CHECK_THROWS_WITH(count_words(files, {}), Contains(expected));
  };
  message("fine\nnot \xff fine\n", "text:2:5: byte that is not UTF-8");
  message("fine\nb\xc3\xa9 \xe0\x80\x80\n", "text:2:5: byte that is not UTF-8");
  message(std::string("a b\0c\n", 6), "text:1:4: NUL byte");
  message("a " + std::string(1001, 'x') + " b\n", "text:1:3: word");
  message("a " + std::string(1001, 'x') + " b\n", "of 1001 bytes, expected at most 1000");
  message("a\n" + std::string((1U << 20U) + 1, 'x') + "\n", "text:2: line longer than");
  CHECK_NOTHROW(count_words({directory.write("text", std::string(1000, 'x'))}, {}));
  CHECK_THROWS_WITH(count_words({directory / "missing"}, {}), Contains("No such file"));
}

TEST_CASE("a text that can be read once only is refused") {
  CHECK_THROWS_WITH(check_corpus_files({"-"}, {}),
                    Contains("standard input") && Contains("expected a regular file"));
  CHECK_THROWS_AS(check_corpus_files({"/dev/zero"}, {}), FileError);
  const TemporaryDirectory directory;
  CHECK_NOTHROW(check_corpus_files({directory.write("text", "a")}, {}));
}

TEST_CASE("sentences have the words of the vocabulary, file by file") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("a", "x b x rare\nnone here\n\nb\n"),
                                       directory.write("b", "b b x\n")};
  const Corpus corpus = corpus_of(files, 2);  // b, x
  SentenceReader reader(corpus, {});
  Sentence sentence;
  std::vector<Sentence> sentences;
  while (reader.next(sentence)) sentences.push_back(sentence);
  CHECK(sentences == std::vector<Sentence>{{1, 0, 1}, {0}, {0, 0, 1}});
  CHECK_FALSE(reader.next(sentence));
  std::size_t words = 0;
  for (std::uint32_t part = 0; part < 5; ++part) {
    SentenceReader of_part(corpus, {part, 5});
    while (of_part.next(sentence)) words += sentence.size();
  }
  CHECK(words == corpus.occurrences);
}

TEST_CASE("subsampling keeps words with the probability of the formula") {
  const Corpus corpus = corpus_with_counts({9000, 900, 90, 10});
  const Subsampling subsampling(corpus, 1e-2);
  RandomEngine random(1);
  for (WordId word = 0; word < 4; ++word) {
    const double ratio = 1e-2 / (static_cast<double>(corpus.words.count(word)) / 10000);
    const double expected = std::min(1.0, std::sqrt(ratio) + ratio);
    CHECK(subsampling.probability(word) == Approx(expected).margin(1e-9));
    int kept = 0;
    for (int i = 0; i < 100000; ++i) kept += subsampling.keeps(word, random) ? 1 : 0;
    CHECK(kept == Approx(1e5 * expected).margin(6 * std::sqrt(1e5 * expected * (1 - expected)) + 1e-6));
  }
  const Subsampling none(corpus, 0);
  CHECK(none.probability(0) == 1);
  for (int i = 0; i < 1000; ++i) CHECK(none.keeps(0, random));
}

TEST_CASE("negatives are drawn in proportion to a power of the counts") {
  const Corpus corpus = corpus_with_counts({16, 81, 1});
  const auto noise = noise_distribution(corpus, 0.75)->probabilities();
  REQUIRE(noise.size() == 3);
  CHECK(noise[0].probability == Approx(8.0 / 36));
  CHECK(noise[1].probability == Approx(27.0 / 36));
  CHECK(noise[2].probability == Approx(1.0 / 36));
  for (const auto& [key, probability] : noise_distribution(corpus, 0)->probabilities())
    CHECK(probability == Approx(1.0 / 3));
}

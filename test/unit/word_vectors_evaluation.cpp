// Analogies and similarities as tests of word vectors.
#include <cmath>
#include <string>
#include <vector>

#include "apps/word_vectors/analogies.hpp"
#include "apps/word_vectors/evaluation.hpp"
#include "apps/word_vectors/word_similarity.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using lapse::test::TemporaryDirectory;

namespace {

io::Vocabulary vocabulary_of(const std::vector<std::string>& names) {
  io::Vocabulary words;
  for (const std::string& name : names) words.add(name);
  return words;
}

}  // namespace

TEST_CASE("questions are read by section, in lower case; those with unknown words are counted") {
  const TemporaryDirectory directory;
  const io::Vocabulary words = vocabulary_of({"athens", "greece", "oslo", "norway", "big", "bigger"});
  const std::string file =
      directory.write("questions",
                      ": capital\nAthens Greece Oslo Norway\nAthens Greece Bern Swiss\n\n"
                      ":  gram3-comparative\r\nbig\tbigger  Big BIGGER\n");
  const AnalogyQuestions questions = read_analogies(file, words);
  REQUIRE(questions.sections.size() == 2);
  CHECK(questions.sections[0].name == "capital");
  CHECK(questions.sections[0].unknown == 1);
  CHECK_FALSE(questions.sections[0].is_syntactic());
  CHECK(questions.sections[1].name == "gram3-comparative");
  CHECK(questions.sections[1].unknown == 0);
  CHECK(questions.sections[1].is_syntactic());
  REQUIRE(questions.known.size() == 2);
  CHECK(questions.known[0].d == 3);
  CHECK(questions.known[1].c == 4);
  CHECK(questions.known[1].section == 1);
}

TEST_CASE("malformed questions are refused with their place") {
  const TemporaryDirectory directory;
  const io::Vocabulary words = vocabulary_of({"a", "b", "c", "d"});
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {": s\na b c\n", "questions:2:1: fewer than four words"},
      {": s\na b c d e\n", "questions:2:9: a fifth word"},
      {"a b c d\n", "questions:1:1: a question, expected a line `: section`"},
      {":\na b c d\n", "questions:1:1: a section without a name"},
      {": s\na b c d\n: caf\xe9\n", "questions:3:6: byte that is not UTF-8 in the name of a section"},
      {": s\n", "contains no questions"},
      {"", "contains no questions"},
  }));
  const std::string file = directory.write("questions", text);
  CHECK_THROWS_AS(read_analogies(file, words), FileError);
  CHECK_THROWS_WITH(read_analogies(file, words), Contains(message));
}

TEST_CASE("an analogy is answered with the nearest word that is not in the question") {
  WordVectors vectors{vocabulary_of({"man", "king", "woman", "queen", "royal"}), 3, {}};
  vectors.values = {1, 0, 0, 2, 0, 2, 0, 3, 0, 0, 1, 1, 0.1F, 0, 1};
  const std::vector<float> rows = normalized_rows(vectors);
  CHECK(rows[3] == Approx(std::sqrt(0.5)));
  const AnalogySolver solver(rows, 3);
  // king - man + woman is near queen; the last two questions expect words that are excluded or less near.
  const std::vector<Analogy> questions{{0, 1, 2, 3, 0}, {0, 1, 2, 1, 0}, {0, 1, 2, 4, 0}};
  CHECK(solver.is_correct(questions) == std::vector<bool>{true, false, false});
  // More questions than one pass handles.
  std::vector<Analogy> many(100, questions[0]);
  many[70] = questions[1];
  const std::vector<bool> correct = solver.is_correct(many);
  REQUIRE(correct.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(correct[i] == (i != 70));
}

TEST_CASE("the tiniest vectors have a direction, and zeros have none") {
  const WordVectors vectors{vocabulary_of({"a", "b"}), 2, {1e-42F, 0, 0, 0}};
  CHECK(normalized_rows(vectors) == std::vector<float>{1, 0, 0, 0});
}

TEST_CASE("accuracy is that of the questions that were answered, in total and by kind") {
  const AnalogyResult result{{{"capital", 2}, {"gram1", 1}, {"family", 0}}, {{1, 4}, {3, 4}, {0, 2}}, 3};
  CHECK(result.total().accuracy() == 0.4);
  CHECK(result.semantic().correct == 1);
  CHECK(result.semantic().answered == 6);
  CHECK(result.syntactic().accuracy() == 0.75);
  CHECK(AnalogyScore{}.accuracy() == 0);
}

TEST_CASE("pairs of words are read with their scores") {
  const TemporaryDirectory directory;
  const io::Vocabulary words = vocabulary_of({"love", "war", "peace"});
  const std::string text = GENERATE("# a remark\nlove\tWar\t6.5\nlove\tpeace\t3\nlove\tunknown\t1\n",
                                    "Word 1,Word 2,Human (mean)\nlove,war,6.5\nlove,peace,3\nx,war,2\n",
                                    "love war 6.5\n\n love  peace 3\nunknown unknown 1\n");
  const WordPairs pairs = read_word_pairs(directory.write("pairs", text), words);
  REQUIRE(pairs.known.size() == 2);
  CHECK(pairs.known[0].second == 1);
  CHECK(pairs.known[0].score == 6.5);
  CHECK(pairs.known[1].score == 3);
  CHECK(pairs.unknown == 1);
}

TEST_CASE("malformed pairs are refused with their place") {
  const TemporaryDirectory directory;
  const io::Vocabulary words = vocabulary_of({"a", "b"});
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"a\tb\t1\na\tb\n",
       "pairs:2:1: expected `word word score`: 2 columns, expected 3, separated by tabs as in the first "
       "line"},
      {"a;b;1\n",
       "pairs:1:1: expected `word word score`: 1 column, expected 3, separated by tabs, commas or blanks: "
       "the line has none, but semicolons"},
      {"a\tb\t1\na\tb\t1\t2\n", "pairs:2:1: expected"},
      {"a\tb\t1\na\t\t1\n", "pairs:2:1: expected"},
      {"a,b,1\na,b,x\n", "pairs:2:5: score 'x', expected a number"},
      {"a b 1\na b nan\n", "pairs:2:5: score 'nan'"},
      {"# nothing\n", "contains no pairs"},
  }));
  const std::string file = directory.write("pairs", text);
  CHECK_THROWS_AS(read_word_pairs(file, words), FileError);
  CHECK_THROWS_WITH(read_word_pairs(file, words), Contains(message));
}

TEST_CASE("the rank correlation is Spearman's, with mean ranks for equal numbers") {
  using Numbers = std::vector<double>;
  CHECK(rank_correlation(Numbers{1, 2, 3}, Numbers{10, 100, 1000}) == Approx(1));
  CHECK(rank_correlation(Numbers{1, 2, 3}, Numbers{3, 2, 1}) == Approx(-1));
  // A textbook example: IQ and hours of television, -29/165.
  CHECK(rank_correlation(Numbers{106, 100, 86, 101, 99, 103, 97, 113, 112, 110},
                         Numbers{7, 27, 2, 50, 28, 29, 20, 12, 6, 17}) == Approx(-29.0 / 165));
  // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
  CHECK(rank_correlation(Numbers{1, 2, 2, 3}, Numbers{1, 2, 3, 4}) == Approx(4.5 / std::sqrt(22.5)));
  CHECK(std::isnan(rank_correlation(Numbers{1}, Numbers{1})));
  CHECK(std::isnan(rank_correlation(Numbers{1, 1}, Numbers{1, 2})));
}

TEST_CASE("questions and pairs of which no words are known are an error") {
  const TemporaryDirectory directory;
  const io::Vocabulary words = vocabulary_of({"a", "b"});
  const std::string questions = directory.write("questions", ": s\nx y z a\na b a x\n");
  const std::string pairs = directory.write("pairs", "x y 1\n");
  CHECK_THROWS_AS(load_evaluation({questions, ""}, words, {}), ConfigurationError);
  CHECK_THROWS_WITH(load_evaluation({questions, ""}, words, {}), Contains("each of the 2 questions"));
  CHECK_THROWS_WITH(load_evaluation({"", pairs}, words, {}), Contains("each of the 1 pairs"));
  const EvaluationData none = load_evaluation({}, words, {});
  CHECK_FALSE(none.analogies);
  CHECK_FALSE(none.pairs);
}

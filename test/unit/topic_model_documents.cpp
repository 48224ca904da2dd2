// Documents of topic models as text.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/topic_model/text_documents.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using lapse::io::WordCount;
using lapse::test::TemporaryDirectory;

namespace {

io::Vocabulary words_of_the_sea() {
  io::Vocabulary vocabulary;
  for (const char* const word : {"sea", "ship", "sail"}) vocabulary.add(word);
  return vocabulary;
}

std::vector<WordCount> words_of(const io::BagOfWords& bag, std::size_t document) {
  const auto words = bag.document(document);
  return {words.begin(), words.end()};
}

}  // namespace

TEST_CASE("each line of a text is a document of the words that the vocabulary has") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("text", "ship the sea ship\nno such\n sail\tship \r\nsea");
  const TextDocuments documents = read_text_documents(file, words_of_the_sea());
  REQUIRE(documents.bag.documents() == 4);
  CHECK(documents.bag.words() == 3);
  CHECK(words_of(documents.bag, 0) == std::vector<WordCount>{{0, 1}, {1, 2}});
  CHECK(words_of(documents.bag, 1).empty());
  CHECK(words_of(documents.bag, 2) == std::vector<WordCount>{{1, 1}, {2, 1}});
  CHECK(words_of(documents.bag, 3) == std::vector<WordCount>{{0, 1}});
  CHECK(documents.unknown_tokens == 3);
  CHECK(documents.empty_documents == 1);
}

TEST_CASE("parts of a text have each document once") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("text", "sea\nship\nsail\nsea sea\nx\n");
  const TextDocuments all = read_text_documents(file, words_of_the_sea());
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t index = 0; index < 2; ++index) {
    const TextDocuments part = read_text_documents(file, words_of_the_sea(), {.index = index, .count = 2});
    CHECK(part.bag.checksum() == all.bag.checksum());
    CHECK(part.bag.lengths().size() == 5);
    CHECK(part.unknown_tokens == 1);
    for (std::size_t i = 0; i < part.bag.documents(); ++i) {
      numbers.push_back(part.bag.number(i));
      CHECK(words_of(part.bag, i) == words_of(all.bag, part.bag.number(i)));
    }
  }
  CHECK(numbers == std::vector<std::uint64_t>{0, 2, 4, 1, 3});
}

TEST_CASE("a text without documents is refused with its place") {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& text, const std::string& expected) {
    CAPTURE(expected);
    const std::string file = directory.write("text", text);
    CHECK_THROWS_AS(read_text_documents(file, words_of_the_sea()), FileError);
    CHECK_THROWS_WITH(read_text_documents(file, words_of_the_sea()), Contains(expected));
  };
  message("", "text: has no documents");
  message("sea\n\nship\n", "text:2:1: a document without words");
  message("sea\n \t\n", "text:2:1: a document without words");
  message("land\nriver land\n",
          "none of the words of its 2 documents is among the 3 words of the vocabulary");
  message("sea\nship \xff\n", "text:2:6: byte that is not UTF-8");
  message("sea " + std::string(1001, 'x') + "\n", "text:1:5: word");
  CHECK_THROWS_WITH(read_text_documents(directory / "missing", words_of_the_sea()), Contains("No such file"));
}

// Bags of words: the format, parts of a collection, and errors for damaged files.
#include "lapse/io/documents/bag_of_words.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::BagOfWords;
using lapse::io::DocumentPart;
using lapse::io::read_bag_of_words;
using lapse::io::WordCount;
using lapse::test::TemporaryDirectory;

namespace {

BagOfWords parse_bag(const std::string& content, DocumentPart part = {}) {
  const TemporaryDirectory directory;
  return read_bag_of_words(directory.write("words", content), part);
}

std::vector<WordCount> words_of_bag(const BagOfWords& bag, std::size_t document) {
  const auto words = bag.document(document);
  return {words.begin(), words.end()};
}

// Checks that the content is refused at this position (line 0: none), with a message that contains the words.
void check_bag_refused(const std::string& content, std::uint64_t line, std::uint64_t column,
                       const std::string& words) {
  CAPTURE(content);
  try {
    parse_bag(content);
    FAIL("no error");
  } catch (const lapse::FileError& error) {
    CHECK(error.line() == line);
    CHECK(error.column() == column);
    CHECK_THAT(error.what(), Contains(words));
  }
}

const std::string kThreeDocuments = "3\n5\n4\n1 2 1\n1 5 3\n2 1 2\n3 4 1\n";

}  // namespace

TEST_CASE("a bag of words is read, with documents and words from 0") {
  const BagOfWords bag = parse_bag(kThreeDocuments);
  CHECK(std::vector<std::uint64_t>(bag.lengths().begin(), bag.lengths().end()) ==
        std::vector<std::uint64_t>{4, 2, 1});
  CHECK(bag.words() == 5);
  CHECK(bag.tokens() == 7);
  REQUIRE(bag.documents() == 3);
  CHECK(words_of_bag(bag, 0) == std::vector<WordCount>{{1, 1}, {4, 3}});
  CHECK(words_of_bag(bag, 1) == std::vector<WordCount>{{0, 2}});
  CHECK(words_of_bag(bag, 2) == std::vector<WordCount>{{3, 1}});
  CHECK(bag.number(2) == 2);
}

TEST_CASE("lines of documents may have tabs, words in any order or twice, and blank lines between them") {
  const BagOfWords bag = parse_bag("2\r\n3\r\n\r\n5\r\n1\t3\t1\r\n1 1 1\r\n\n2 1 4\r\n2  2   2\r\n 2 1 1");
  REQUIRE(bag.documents() == 2);
  CHECK(words_of_bag(bag, 0) == std::vector<WordCount>{{2, 1}, {0, 1}});
  CHECK(words_of_bag(bag, 1) == std::vector<WordCount>{{0, 4}, {1, 2}, {0, 1}});
}

TEST_CASE("the checksum depends on documents, words and counts, not on the part") {
  const std::uint64_t checksum = parse_bag(kThreeDocuments).checksum();
  CHECK(parse_bag(kThreeDocuments, {1, 2}).checksum() == checksum);
  for (const char* const other :
       {"3\n5\n4\n1 3 1\n1 5 3\n2 1 2\n3 4 1\n", "3\n5\n4\n1 2 2\n1 5 2\n2 1 2\n3 4 1\n",
        "3\n5\n4\n1 2 1\n2 5 3\n2 1 2\n3 4 1\n"})
    CHECK(parse_bag(other).checksum() != checksum);
}

TEST_CASE("the parts of a bag of words have each document once") {
  const std::uint64_t documents = 10;
  std::string content = "10\n7\n10\n";
  for (std::uint64_t d = 1; d <= documents; ++d)
    content += std::to_string(d) + " " + std::to_string(1 + d % 7) + " " + std::to_string(d) + "\n";
  for (const std::uint64_t parts : {1U, 3U, 10U, 12U}) {
    std::vector<std::uint64_t> seen;
    std::uint64_t tokens = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const BagOfWords bag = parse_bag(content, {part, parts});
      REQUIRE(bag.lengths().size() == documents);
      REQUIRE(bag.lengths()[4] == 5);
      for (std::size_t i = 0; i < bag.documents(); ++i) {
        seen.push_back(bag.number(i));
        REQUIRE(bag.number(i) % parts == part);
        REQUIRE(bag.document(i).front().count == bag.number(i) + 1);
      }
      tokens += bag.tokens();
    }
    std::ranges::sort(seen);
    REQUIRE(seen.size() == documents);
    for (std::uint64_t d = 0; d < documents; ++d) REQUIRE(seen[d] == d);
    REQUIRE(tokens == 55);
  }
  const BagOfWords three = parse_bag(content, {1, 5, 3});
  REQUIRE(three.documents() == 6);
  CHECK(three.number(0) == 1);
  CHECK(three.number(3) == 6);
  CHECK(parse_bag(content, {2, 2, 0}).documents() == 0);
  REQUIRE_THROWS_AS(parse_bag(content, {2, 2}), lapse::UsageError);
  REQUIRE_THROWS_AS(parse_bag(content, {0, 0, 0}), lapse::UsageError);
}

TEST_CASE("damaged bags of words are refused") {
  check_bag_refused("", 0, 0, "ends before its number of documents");
  check_bag_refused("3\n5\n", 0, 0, "ends before its number of lines");
  check_bag_refused("3 5\n4\n", 1, 1, "2 fields, expected 1");
  check_bag_refused("x\n5\n4\n", 1, 1, "number of documents 'x'");
  check_bag_refused("0\n5\n4\n", 1, 1, "number of documents '0', expected an integer from 1");
  check_bag_refused("3\n0\n4\n", 2, 1, "number of different words '0'");
  check_bag_refused("5000000000\n1\n1\n", 1, 1, "number of documents");
  check_bag_refused("1\n5\n1\n1 2\n", 4, 1, "2 fields, expected 3");
  check_bag_refused("1\n5\n1\n1 2 3 4\n", 4, 1, "4 fields, expected 3");
  check_bag_refused("1\n5\n1\n2 2 1\n", 4, 1, "document");
  check_bag_refused("1\n5\n1\n0 2 1\n", 4, 1, "document '0', expected an integer from 1 to 1");
  check_bag_refused("1\n5\n1\n1 6 1\n", 4, 3, "word");
  check_bag_refused("1\n5\n1\n1 5 0\n", 4, 5, "count '0', expected an integer from 1");
  check_bag_refused("1\n5\n1\n1 5 -1\n", 4, 5, "count");
  check_bag_refused("1\n5\n1\n1 5 2147483648\n", 4, 5, "count");
  check_bag_refused("1\n5\n2\n1 5 1\n", 0, 0,
                    "1 lines `document word count`, and the third line announces 2");
  check_bag_refused("1\n5\n1\n1 5 1\n1 4 1\n", 5, 1, "a line more than the 1");
  check_bag_refused("2\n5\n1\n1 5 1\n", 0, 0, "document 2 has no words");
  check_bag_refused("3\n5\n2\n1 5 1\n3 5 1\n", 5, 1, "document 3, expected 1 or 2");
  check_bag_refused("3\n5\n2\n2 5 1\n3 5 1\n", 4, 1, "document 2, expected 1 or 1");
  check_bag_refused("2\n5\n3\n1 5 1\n2 5 1\n1 4 1\n", 6, 1, "document 1, expected 2 or 3");
  check_bag_refused("4294967295\n5\n9\n4294967295 5 1\n", 4, 1, "document 4294967295, expected 1");
}

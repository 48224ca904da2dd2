// Files of word vectors.
#include "apps/word_vectors/vector_file.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using lapse::test::content_of;
using lapse::test::TemporaryDirectory;

namespace {

std::string bytes_of(const std::vector<float>& numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("vectors are read as they were written, in both formats") {
  const TemporaryDirectory directory;
  const std::string path = directory / "vectors";
  const VectorFormat format = GENERATE(VectorFormat::text, VectorFormat::binary);
  const std::size_t dimensions = GENERATE(1, 3, 700);
  const std::size_t words = GENERATE(1, 60);
  std::vector<float> values(words * dimensions);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i)) * std::pow(10.0F, static_cast<float>(i % 60) - 38);
  values[0] = 0.1F;
  {
    VectorFileWriter writer(path, format, words, dimensions);
    for (std::size_t i = 0; i < words; ++i)
      writer.append("w\xc3\xb6rd" + std::to_string(i), std::span(values).subspan(i * dimensions, dimensions));
    CHECK_FALSE(std::filesystem::exists(path));
    writer.close();
  }
  const WordVectors vectors = read_vectors(path);
  CHECK(vectors.dimensions == dimensions);
  REQUIRE(vectors.words.size() == words);
  CHECK(vectors.words.name(static_cast<io::Vocabulary::Id>(words - 1)) ==
        "w\xc3\xb6rd" + std::to_string(words - 1));
  CHECK(vectors.values == values);
}

TEST_CASE("the formats are those of word2vec, byte by byte") {
  const TemporaryDirectory directory;
  const std::string path = directory / "vectors";
  const std::vector<float> values{1.5F, -2, 0.25F, 1e-20F};
  const auto write = [&](VectorFormat format) {
    VectorFileWriter writer(path, format, 2, 2);
    writer.append("the", std::span(values).first(2));
    writer.append("of", std::span(values).last(2));
    writer.close();
    return content_of(path);
  };
  CHECK(write(VectorFormat::text) == "2 2\nthe 1.5 -2\nof 0.25 1e-20\n");
  CHECK(write(VectorFormat::binary) ==
        "2 2\nthe " + bytes_of({1.5F, -2}) + "\nof " + bytes_of({0.25F, 1e-20F}) + "\n");
}

TEST_CASE("files of other programs are read") {
  const TemporaryDirectory directory;
  // word2vec itself ends each line of text with a blank; other writers of the binary format omit line ends.
  const std::string text = GENERATE(std::string("2 2\nthe 1.500000 -2.000000 \nof 0.25 1e-999 \n"),
                                    std::string("2 2\r\nthe 1.5 -2\r\nof .25 0"),
                                    "2 2\nthe " + bytes_of({1.5F, -2}) + "of " + bytes_of({0.25F, 0}),
                                    std::string("\xEF\xBB\xBF"
                                                "2 2\nthe 1.5 -2\nof 0.25 0\n"),
                                    std::string("2 2\nthe +1.5e0 -2\nof 0.25 -0.000e99\n\n"),
                                    std::string("the 1.5 -2\nof 0.25 0\n"),  // GloVe
                                    std::string("\xEF\xBB\xBFthe 1.5 -2.0 \r\n\r\nof\t0.25\t0\n"));
  const WordVectors vectors = read_vectors(directory.write("vectors", text));
  REQUIRE(vectors.words.size() == 2);
  CHECK(vectors.words.name(1) == "of");
  CHECK(vectors.values[0] == 1.5F);
  CHECK(vectors.values[1] == -2);
  CHECK(vectors.values[2] == 0.25F);
  CHECK(vectors.values[3] == 0);
}

TEST_CASE("a first line without a header may be longer than a block") {
  const TemporaryDirectory directory;
  constexpr std::size_t kDimensions = 100000;
  std::string text;
  for (const std::string word : {"7", "b"}) {
    text += word;
    for (std::size_t i = 0; i < kDimensions; ++i) text += i % 2 == 0 ? " 0.5" : " 2";
    text += '\n';
  }
  const WordVectors vectors = read_vectors(directory.write("vectors", text));
  CHECK(vectors.dimensions == kDimensions);
  CHECK(vectors.words.size() == 2);
  CHECK(vectors.values.back() == 2);
}

TEST_CASE("words of a file without a header may have blanks") {
  const TemporaryDirectory directory;
  const WordVectors vectors =
      read_vectors(directory.write("vectors", "the 1 2\n. . . 3 4\nat  name@domain.com 5 6\n"));
  REQUIRE(vectors.words.size() == 3);
  CHECK(vectors.words.name(1) == ". . .");
  CHECK(vectors.words.name(2) == "at  name@domain.com");
  CHECK(vectors.values == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("binary numbers that begin like a line of text are binary") {
  const TemporaryDirectory directory;
  std::vector<float> values{0, 0.5F, -3};
  std::memcpy(values.data(), "1 2\n", sizeof(float));
  CHECK(read_vectors(directory.write("vectors", "1 3\na " + bytes_of(values) + "\n")).values == values);
}

TEST_CASE("malformed files of vectors are refused") {
  const TemporaryDirectory directory;
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"", "the file ends, expected a line `words dimensions`"},
      {"a 1\n", "'a 1', expected a line `words dimensions`"},
      {"a 1 x\n", "'a 1 x', expected a line `words dimensions`"},
      {"2\n", "expected a line `words dimensions`"},
      {"0 5\n", "expected a line `words dimensions`"},
      {"5 0\n", "expected a line `words dimensions`"},
      {"5 5 5\n", "expected a line `words dimensions`"},
      {"-1 5\n", "expected a line `words dimensions`"},
      {"1 1000001\n", "at most 1000000 dimensions"},
      {std::string(200, '1'), "more than 100 bytes"},
      {"2 2\na 1 2\n", "vectors:3: the file ends, expected word 2"},
      {"2 2\na 1 2\nb 1\n", "vectors:3: 1 numbers, expected 2"},
      {"2 2\na 1 2\nb 1 2 3\n", "vectors:3: 3 numbers, expected 2"},
      {"2 2\na 1 2\nb 1 x\n", "vectors:3: 'x', expected a number"},
      {"3 2\na 1 2 3\nb\xc3\xb6 1 2\nc 1 2\n", "vectors:2: 3 numbers, expected 2"},
      {"3 9\na 1 2 3\nb 1 2 3\nc 1 2 3 4 5 6 7 8 9 10\n", "vectors:2: 3 numbers, expected 9"},
      {"1 2\na 1 nan\n", "vectors:2: number 2 of word 'a' is nan, expected finite numbers"},
      {"1 2\na -inf 2\n", "vectors:2: number 1 of word 'a' is -inf"},
      {"2 2\na 1 2\nb 1e99 2\n", "number 1 of word 'b' is inf or too large for a float"},
      {"2 1\na " + bytes_of({1}) + "b " + bytes_of({std::nanf("")}), "number 1 of word 'b' is nan"},
      {"a 1 2\nb 1\n", "vectors:2: 2 fields, expected a word and 2 numbers"},
      {"a 1 2\n\nb 1 2\na 1 2\n", "vectors:3: word 'a' occurs twice"},
      {"a 1 2\nb 1 x\n", "vectors:2: 'x', expected a number"},
      {"a 1 2\nb 1 2\nc 1 1", "vectors:3: the file ends, expected the end of the line"},
      {"a 1 2\nb 1 1e99\n", "vectors:2: number 2 of word 'b' is inf"},
      {"2 2\na 1 2\na 1 2\n", "vectors:3: word 'a' occurs twice"},
      {"1 2\na 1 2\nb 1 2\n", "vectors:3: more than the 1 words"},
      {"1 2\n" + std::string(2000, 'x'), "vectors:2: more than 1000 bytes"},
      {"1 3\na " + bytes_of({1, 2}), "vectors:2: the file ends, expected 3 numbers"},
      // Text whose first line does not have the format.
      {"2 3\nNew York 1 2 3\nParis 1 2 3\n",
       "; the file was taken for a binary one, as 'York' in its line 2 is no "},
      {"2 2\na 1,5 2\nb 1 2\n", "; the file was taken for a binary one, as '1,5' in its line 2 is no number"},
      {"3 4\na 1-5 2 3 4 5 6 7 8\nb 1 2 3 4\nc 1 2 3 4\n",
       "; the file was taken for a binary one, as its line 2 has no 4 numbers"},
      {"2 2\na " + bytes_of({1, 2}) + "\nb " + bytes_of({1}), "vectors:3: the file ends"},
  }));
  CAPTURE(message);
  const std::string file = directory.write("vectors", text);
  CHECK_THROWS_AS(read_vectors(file), FileError);
  CHECK_THROWS_WITH(read_vectors(file), Contains(message));
}

TEST_CASE("a writer insists on the words and dimensions of its first line") {
  const TemporaryDirectory directory;
  const std::string path = directory / "vectors";
  {
    VectorFileWriter writer(path, VectorFormat::text, 2, 2);
    const std::vector<float> vector{1, 2};
    CHECK_THROWS_AS(writer.append("a", std::span(vector).first(1)), UsageError);
    writer.append("a", vector);
    CHECK_THROWS_AS(writer.close(), UsageError);
    writer.append("b", vector);
    CHECK_THROWS_AS(writer.append("c", vector), UsageError);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  CHECK_THROWS_WITH(VectorFileWriter(directory / "missing/vectors", VectorFormat::text, 1, 1),
                    Contains("cannot be created"));
}

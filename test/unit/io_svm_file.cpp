// Files of LibSVM: the format, parts of a file, and errors for damaged files.
#include "lapse/io/samples/svm_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_compress.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using lapse::io::FeatureValue;
using lapse::io::FirstFeature;
using lapse::io::read_svm_file;
using lapse::io::SvmFile;
using lapse::io::SvmFileOptions;
using lapse::test::TemporaryDirectory;

namespace {

SvmFile parse_samples(const std::string& content, const SvmFileOptions& options = {}) {
  const TemporaryDirectory directory;
  return read_svm_file(directory.write("samples", content), options);
}

std::vector<FeatureValue> features_of(const SvmFile& file, std::size_t sample) {
  const auto features = file.samples.features(sample);
  return {features.begin(), features.end()};
}

// Checks that the content is refused at this position (line 0: none), with a message that contains the words.
void check_samples_refused(const std::string& content, std::uint64_t line, std::uint64_t column,
                           const std::string& words, FirstFeature first = FirstFeature::found) {
  CAPTURE(content);
  try {
    parse_samples(content, {.first_feature = first});
    FAIL("no error");
  } catch (const lapse::FileError& error) {
    CHECK(error.line() == line);
    CHECK(error.column() == column);
    CHECK_THAT(error.what(), Contains(words));
  }
}

}  // namespace

TEST_CASE("samples have labels and features in their order") {
  const SvmFile file = parse_samples("+1 1:0.5 3:-2e-1\n-1\n 2.5\t2:1  4:+3 \r\n");
  CHECK(file.first_feature == FirstFeature::one);
  REQUIRE(file.samples.samples() == 3);
  CHECK(file.samples.all_samples() == 3);
  CHECK(file.samples.all_entries() == 4);
  CHECK(file.samples.all_features() == 4);
  CHECK(file.samples.label(0) == 1);
  CHECK(file.samples.label(2) == 2.5);
  CHECK(features_of(file, 0) == std::vector<FeatureValue>{{0, 0.5F}, {2, -0.2F}});
  CHECK(features_of(file, 1).empty());
  CHECK(features_of(file, 2) == std::vector<FeatureValue>{{1, 1}, {3, 3}});
  CHECK(file.samples.all_labels() == std::map<double, std::uint64_t>{{-1, 1}, {1, 1}, {2.5, 1}});
}

TEST_CASE("the first feature is found, or stated") {
  const SvmFile zero = parse_samples("1 1:1\n1 0:1 5:1\n");
  CHECK(zero.first_feature == FirstFeature::zero);
  CHECK(features_of(zero, 0) == std::vector<FeatureValue>{{1, 1}});
  CHECK(zero.samples.all_features() == 6);
  const SvmFile stated = parse_samples("1 1:1\n", {.first_feature = FirstFeature::zero});
  CHECK(stated.first_feature == FirstFeature::zero);
  CHECK(features_of(stated, 0) == std::vector<FeatureValue>{{1, 1}});
  CHECK(parse_samples("1 1:1\n", {.first_feature = FirstFeature::one}).samples.all_features() == 1);
}

TEST_CASE("comments, blank lines and queries are ignored") {
  const SvmFile file = parse_samples("# a comment\n\n1 qid:7 2:1 # 3:1\n  # 1\n-1 1:1#\n");
  REQUIRE(file.samples.samples() == 2);
  CHECK(features_of(file, 0) == std::vector<FeatureValue>{{1, 1}});
  CHECK(features_of(file, 1) == std::vector<FeatureValue>{{0, 1}});
}

TEST_CASE("compressed files are read") {
  const TemporaryDirectory directory;
  const std::string content = "1 1:1\n-1 2:1\n";
  CHECK(read_svm_file(directory.write("gzip", lapse::test::gzip(content))).samples.all_samples() == 2);
  CHECK(read_svm_file(directory.write("zstd", lapse::test::zstd(content))).samples.all_samples() == 2);
}

TEST_CASE("every part counts all samples and keeps its own") {
  const std::string content = "1 1:1\n-1 2:1\n1 3:1\n-1 4:1\n1 9:1\n";
  const SvmFile whole = parse_samples(content);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t index = 0; index < 3; ++index) {
    const SvmFile part = parse_samples(content, {.part = {.index = index, .count = 3}});
    CHECK(part.samples.all_samples() == 5);
    CHECK(part.samples.all_features() == 9);
    CHECK(part.samples.checksum() == whole.samples.checksum());
    for (std::size_t i = 0; i < part.samples.samples(); ++i) {
      const std::uint64_t number = part.samples.number(i);
      CHECK(features_of(part, i) == features_of(whole, number));
      CHECK(part.samples.label(i) == whole.samples.label(number));
      numbers.push_back(number);
    }
  }
  CHECK(numbers == std::vector<std::uint64_t>{0, 3, 1, 4, 2});
  CHECK(parse_samples("-1 1:1\n").samples.checksum() != parse_samples("-1 1:2\n").samples.checksum());
  CHECK_THROWS_AS(parse_samples(content, {.part = {.index = 1, .count = 1}}), lapse::UsageError);
}

TEST_CASE("damaged files of samples are refused, with the position") {
  check_samples_refused("1 1:1\nx 1:1\n", 2, 1, "label 'x', expected a finite number");
  check_samples_refused("nan 1:1\n", 1, 1, "label 'nan'");
  check_samples_refused("1,2 1:1\n", 1, 1, "label '1,2'");
  check_samples_refused("+-1 1:1\n", 1, 1, "label '+-1'");
  check_samples_refused("1 1:inf\n", 1, 5, "value 'inf'");
  check_samples_refused("1 1:NaN\n", 1, 5, "value 'NaN'");
  check_samples_refused("1 1:1e39\n", 1, 5, "fits a float");
  check_samples_refused("1 1:\n", 1, 5, "value ''");
  check_samples_refused("1 1:2:3\n", 1, 5, "value '2:3'");
  check_samples_refused("1 7\n", 1, 3, "'7', expected feature:value");
  check_samples_refused("1 -1:1\n", 1, 3, "feature '-1', expected an integer from 0");
  check_samples_refused("1 a:1\n", 1, 3, "feature 'a'");
  check_samples_refused("1 4294967295:1\n", 1, 3, "expected an integer from 0 to 4294967293");
  check_samples_refused("1 2:1 2:1\n", 1, 7, "feature 2 after feature 2");
  check_samples_refused("1 2:1 1:1\n", 1, 7, "feature 1 after feature 2, expected each once, in ascending");
  check_samples_refused("1 1:1\n1 0:1\n", 2, 3, "feature 0 in a file whose features are counted from 1",
                        FirstFeature::one);
  check_samples_refused("1 qid:x 1:1\n", 1, 7, "qid 'x'");
  check_samples_refused("1 1:1 qid:1\n", 1, 7, "a qid after a feature");
  check_samples_refused("# nothing\n\n", 0, 0, "has no samples");
  CHECK(features_of(parse_samples("1 1:1e-60\n"), 0) == std::vector<FeatureValue>{{0, 0}});
}

// Files of LibSVM, whole and in parts.
#include <cmath>
#include <optional>
#include <string>

#include "lapse/core/file_error.hpp"
#include "lapse/io/samples/svm_file.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

std::optional<io::SvmFile> read(const io::Input& input, const io::SvmFileOptions& options) {
  try {
    return io::read_svm_file(input, options);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

void check_samples(const io::SparseSamples& samples) {
  std::uint64_t labels = 0;
  for (const auto& [label, count] : samples.all_labels()) labels += count;
  check(labels == samples.all_samples() && labels > 0, "each sample has a label");
  for (std::size_t sample = 0; sample < samples.samples(); ++sample) {
    check(std::isfinite(samples.label(sample)), "labels are finite");
    const io::FeatureValue* before = nullptr;
    for (const io::FeatureValue& entry : samples.features(sample)) {
      check(entry.feature < samples.all_features() && std::isfinite(entry.value), "features are counted");
      check(before == nullptr || before->feature < entry.feature, "features ascend");
      before = &entry;
    }
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse;
  using namespace lapse::test;
  FuzzInput input(data, size);
  const unsigned choice = input.byte();
  const std::uint64_t parts = 1 + choice % 4;
  const auto first = static_cast<io::FirstFeature>(choice / 4 % 3);
  const std::string bytes = input.rest();
  const auto whole = read(source_input(bytes), {.first_feature = first});
  if (!whole) return 0;
  check_samples(whole->samples);
  std::size_t samples = 0;
  for (std::uint64_t index = 0; index < parts; ++index) {
    const auto part = read(source_input(bytes),
                           {.first_feature = first, .part = {.index = index, .count = parts, .width = 1}});
    check(part.has_value(), "a part of a file that can be read can be read");
    check_samples(part->samples);
    check(part->samples.checksum() == whole->samples.checksum(), "every part counts all samples");
    samples += part->samples.samples();
  }
  check(samples == whole->samples.all_samples(), "the parts of a file have its samples");
  return 0;
}

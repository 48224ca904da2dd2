#include "lapse/io/samples/svm_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

// Another number of features must fit beside the largest.
constexpr std::uint64_t kMaxFeature = std::numeric_limits<std::uint32_t>::max() - 2;

class SvmParser {
 public:
  SvmParser(const Input& input, const SvmFileOptions& options) : reader_(input), options_(options) {
    const DocumentPart& part = options.part;
    if (part.count == 0 || part.index > part.count || part.width > part.count - part.index) {
      throw UsageError(fmt::format("parts {} to {} of {} parts of {}", part.index, part.index + part.width,
                                   part.count, reader_.path()));
    }
  }

  SvmFile read() {
    SvmFile file;
    try {
      read_samples(file.samples);
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(
          fmt::format("{}:{}: out of memory for more samples", reader_.path(), reader_.line_number()));
    }
    if (file.samples.all_samples() == 0)
      throw FileError(reader_.path(), "has no samples, expected lines `label feature:value ...`");
    const bool from_zero = options_.first_feature == FirstFeature::zero ||
                           (options_.first_feature == FirstFeature::found && has_feature_0_);
    file.first_feature = from_zero ? FirstFeature::zero : FirstFeature::one;
    if (!from_zero) file.samples.count_features_from_0();
    return file;
  }

 private:
  void read_samples(SparseSamples& samples) {
    std::vector<FeatureValue> features;
    while (reader_.next(rest_)) {
      rest_ = rest_.substr(0, rest_.find('#'));
      std::string_view field;
      if (!next_field(field)) continue;
      const double label = parse_number<double>(field, "label");
      parse_features(features);
      samples.add(label, features, options_.part.has(samples.all_samples()));
    }
  }

  // The next field of the line, which ends at a blank or tab. False at the end.
  bool next_field(std::string_view& field) {
    std::size_t begin = 0;
    while (begin < rest_.size() && is_blank(rest_[begin])) ++begin;
    std::size_t end = begin;
    while (end < rest_.size() && !is_blank(rest_[end])) ++end;
    field = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return !field.empty();
  }
  static bool is_blank(char character) { return character == ' ' || character == '\t'; }

  void parse_features(std::vector<FeatureValue>& features) {
    features.clear();
    bool is_first = true;
    for (std::string_view field; next_field(field); is_first = false) {
      const std::size_t colon = field.find(':');
      if (colon == std::string_view::npos)
        reader_.fail(fmt::format("'{}', expected feature:value", shown(field)), field);
      const std::string_view name = field.substr(0, colon);
      const std::string_view number = field.substr(colon + 1);
      if (name == "qid") {
        if (!is_first) reader_.fail("a qid after a feature, expected it after the label", field);
        parse_integer(number, "qid", std::numeric_limits<std::uint64_t>::max());
        continue;
      }
      const auto feature = static_cast<std::uint32_t>(parse_integer(name, "feature", kMaxFeature));
      check_order(feature, features, name);
      features.push_back({feature, parse_number<float>(number, "value")});
    }
  }

  void check_order(std::uint32_t feature, const std::vector<FeatureValue>& before, std::string_view name) {
    if (feature == 0 && options_.first_feature == FirstFeature::one)
      reader_.fail("feature 0 in a file whose features are counted from 1", name);
    has_feature_0_ = has_feature_0_ || feature == 0;
    if (before.empty() || before.back().feature < feature) return;
    reader_.fail(fmt::format("feature {} after feature {}, expected each once, in ascending order", feature,
                             before.back().feature),
                 name);
  }

  std::uint64_t parse_integer(std::string_view field, std::string_view what, std::uint64_t most) const {
    std::uint64_t number = 0;
    const char* const end = field.data() + field.size();
    const auto result = std::from_chars(field.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || number > most)
      reader_.fail(fmt::format("{} '{}', expected an integer from 0 to {}", what, shown(field), most), field);
    return number;
  }

  template <class Number>
  Number parse_number(std::string_view field, std::string_view what) const {
    std::string_view digits = field;
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
    Number value = 0;
    const char* const end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value);
    if (result.ec == std::errc::result_out_of_range && result.ptr == end && is_below_one(digits)) return 0;
    if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value)) {
      reader_.fail(fmt::format("{} '{}', expected a finite number{}", what, shown(field),
                               std::is_same_v<Number, float> ? " that fits a float" : ""),
                   field);
    }
    return value;
  }

  LineReader reader_;
  SvmFileOptions options_;
  std::string_view rest_;  // of the line
  bool has_feature_0_ = false;
};

}  // namespace

SvmFile read_svm_file(const Input& input, const SvmFileOptions& options) {
  return SvmParser(input, options).read();
}

}  // namespace lapse::io

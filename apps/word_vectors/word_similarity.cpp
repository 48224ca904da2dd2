#include "apps/word_vectors/word_similarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>

#include "apps/word_vectors/lower_case.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"
#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

namespace {

// Ranks from 1; equal numbers have their mean rank.
std::vector<double> ranks_of(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> ranks(numbers.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

std::optional<double> parse_score(std::string_view field) {
  double score = 0;
  const auto result = std::from_chars(field.data(), field.data() + field.size(), score);
  const bool is_number = result.ec == std::errc{} && result.ptr == field.data() + field.size();
  return is_number && std::isfinite(score) ? std::optional(score) : std::nullopt;
}

}  // namespace

WordPairs read_word_pairs(const io::Input& input, const io::Vocabulary& words) {
  WordPairs pairs;
  io::LineReader reader(input);
  std::optional<io::Separator> separator;
  for (std::string_view line; reader.next(line);) {
    if (io::trimmed(line).empty() || line.starts_with('#')) continue;
    const bool is_first = !separator;
    if (is_first) separator = io::detect_separator(line);
    io::Fields fields(line, *separator);
    std::array<std::string_view, 3> field;
    std::size_t count = 0;
    while (count < field.size() && fields.next(field[count])) ++count;
    count += fields.count_rest();
    if (count != field.size()) {
      const std::string separators =
          is_first && count == 1
              ? "tabs, commas or blanks"
              : fmt::format("{}{}", io::separator_name(*separator), is_first ? "" : " as in the first line");
      reader.fail("expected `word word score`: " +
                      io::wrong_number_of_fields(line, count, field.size(), "column", separators),
                  line);
    }
    if (field[0].empty() || field[1].empty())
      reader.fail("expected `word word score`: a word is empty", line);
    const std::optional<double> score = parse_score(field[2]);
    if (!score) {
      if (is_first) continue;  // a header
      reader.fail(fmt::format("score '{}', expected a number", io::shown(field[2])), field[2]);
    }
    const auto first = words.find(lower_case(field[0]));
    const auto second = words.find(lower_case(field[1]));
    if (first && second) {
      pairs.known.push_back({*first, *second, *score});
    } else {
      ++pairs.unknown;
    }
  }
  if (pairs.known.empty() && pairs.unknown == 0)
    throw FileError(io::input_name(input.path()), "contains no pairs of words");
  return pairs;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a);
  const std::vector<double> y = ranks_of(b);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

double similarity_correlation(std::span<const WordPair> pairs, std::span<const float> rows,
                              std::size_t dimensions) {
  std::vector<double> scores;
  std::vector<double> cosines;
  for (const WordPair& pair : pairs) {
    scores.push_back(pair.score);
    cosines.push_back(dot(rows.subspan(pair.first * dimensions, dimensions),
                          rows.subspan(pair.second * dimensions, dimensions)));
  }
  return rank_correlation(scores, cosines);
}

}  // namespace lapse::apps

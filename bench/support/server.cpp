#include "bench/support/server.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"
#include "lapse/core/options/option_states.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/loading/shuffle.hpp"
#include "lapse/io/matrices/zipf_distribution.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr double kZipfExponent = 1.1;

}  // namespace

Options quiet_options() {
  Options options = Options::from_environment();
  options.startup_report = false;
  return options;
}

Options separate_options() {
  Options options = quiet_options();
  if (has_option("domain")) options.set("domain", "rank");
  return options;
}

std::string domain_of(const Options& options) {
  return has_option("domain") ? options.get("domain") : "rank";
}

bool has_option(std::string_view name) {
  return std::ranges::any_of(option_states(OptionSources({})).options, [&](const OptionState& option) {
    return option.name == "lapse." + std::string(name);
  });
}

std::vector<Key> random_keys(std::uint64_t first, std::uint64_t keys, std::size_t count,
                             std::uint64_t stream) {
  RandomEngine random(kSeed, stream);
  std::vector<Key> drawn;
  drawn.reserve(count);
  for (std::size_t i = 0; i < count; ++i) drawn.emplace_back(first + random.below(keys));
  return drawn;
}

std::vector<Key> zipf_keys(std::uint64_t keys, std::size_t count, std::uint64_t stream) {
  const io::ZipfDistribution distribution(keys, kZipfExponent);
  const std::vector<Key> by_frequency = shuffled_keys(0, keys, 0);
  RandomEngine random(kSeed, stream);
  std::vector<Key> drawn;
  drawn.reserve(count);
  for (std::size_t i = 0; i < count; ++i) drawn.push_back(by_frequency[distribution(random) - 1]);
  return drawn;
}

std::vector<Key> shuffled_keys(std::uint64_t first, std::uint64_t keys, std::uint64_t stream) {
  std::vector<Key> all;
  all.reserve(keys);
  for (std::uint64_t key = 0; key < keys; ++key) all.emplace_back(first + key);
  RandomEngine random(kSeed, stream);
  io::shuffle(std::span(all), random);
  return all;
}

void expect_count(std::string_view what, std::uint64_t counted, std::uint64_t expected) {
  if (counted != expected) {
    throw UsageError(fmt::format("the benchmark made {} {}, expected {}", counted, what, expected));
  }
}

}  // namespace lapse::bench

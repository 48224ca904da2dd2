#include "apps/common/training_health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse::apps {

namespace {

// Without the sign, the bits of floats are ordered by absolute value; infinity is the smallest that is not
// finite.
constexpr std::int32_t kInfinity = 0x7f800000;
constexpr std::int32_t kNoSign = 0x7fffffff;

std::int32_t magnitude(const std::byte* number) {
  std::int32_t bits = 0;
  std::memcpy(&bits, number, sizeof bits);
  return bits & kNoSign;
}

std::int32_t largest_magnitude(const std::byte* numbers, std::size_t count) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, magnitude(numbers + i * sizeof(float)));
  return largest;
}

// Describes what is wrong; empty: nothing.
std::string problem_of(const TrainingHealth& health, const std::vector<ValueRange>& ranges) {
  if (health.loss && !std::isfinite(*health.loss)) return fmt::format("the loss is {}", *health.loss);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string& table = health.tables[i].name();
    if (ranges[i].not_finite != 0)
      return fmt::format("table '{}' has {} numbers that are not finite", table, ranges[i].not_finite);
  }
  const double loss_bound = kDivergence * health.loss_of_nothing;
  if (health.loss && loss_bound != 0 && *health.loss > loss_bound)
    return fmt::format("the loss is {:.3g}, more than {:.3g} times that of a model that has learned nothing",
                       *health.loss, kDivergence);
  const double value_bound = kDivergence * health.value_scale;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].largest > value_bound)
      return fmt::format("table '{}' has a value of {:.3g}, expected at most {:.3g}", health.tables[i].name(),
                         ranges[i].largest, value_bound);
  }
  return {};
}

}  // namespace

void ValueRange::operator+=(const ValueRange& other) {
  largest = std::max(largest, other.largest);
  not_finite += other.not_finite;
}

ValueRange range_of(const Table<float>& table) {
  const TableShard& shard = table.handle().state();
  const Store& store = shard.store();
  std::int32_t largest = 0;
  std::uint64_t not_finite = 0;
  store.for_each_own([&](Key key, Slot slot) {
    const std::byte* const row = store.address(slot);
    const std::size_t numbers = shard.sizes().content_bytes(key) / sizeof(float);
    const std::int32_t of_row = largest_magnitude(row, numbers);
    if (of_row >= kInfinity) {
      for (std::size_t i = 0; i < numbers; ++i)
        not_finite += magnitude(row + i * sizeof(float)) >= kInfinity ? 1 : 0;
      return;
    }
    // States may be large.
    const std::size_t length = shard.sizes().length(key);
    largest = std::max(largest, numbers == length ? of_row : largest_magnitude(row, length));
  });
  return {std::bit_cast<float>(largest), not_finite};
}

void require_healthy(ParameterServer& server, const TrainingHealth& health, TrainingJob* job) {
  const std::vector<std::vector<ValueRange>> of_ranks =
      CheckpointAgreement(server, "the look at the values").exchange([&] {
        std::vector<ValueRange> ranges;
        for (const Table<float>& table : health.tables) ranges.push_back(range_of(table));
        return ranges;
      });
  std::vector<ValueRange> ranges(health.tables.size());
  for (const std::vector<ValueRange>& of_rank : of_ranks)
    for (std::size_t i = 0; i < ranges.size(); ++i) ranges[i] += of_rank.at(i);
  const std::string problem = problem_of(health, ranges);
  if (problem.empty()) return;
  std::string saved;
  if (job != nullptr) {
    job->finish_background_save();
    saved = job->saved_text();
  }
  throw Error(fmt::format("training diverged in epoch {} with learning rate {}: {}: choose a smaller {}{}",
                          health.epoch, health.rate, problem, health.rate_option, saved));
}

}  // namespace lapse::apps

#include "adapm/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "lapse/core/error.hpp"

namespace adapm {

using lapse::Key;
using lapse::UsageError;

namespace {

void check_range(KeyRange range, const char* name) {
  if (range.first < range.end) return;
  throw UsageError(
      fmt::format("a {} distribution over the keys from {} to before {}: expected at least one key", name,
                  range.first.value(), range.end.value()));
}

void check_weights(std::span<const double> weights, Key first) {
  if (weights.empty()) throw UsageError("a distribution without weights: expected at least one");
  if (weights.size() > AliasTable::kMaxSize) {
    throw UsageError(fmt::format("a distribution of {} weights: expected at most {}", weights.size(),
                                 AliasTable::kMaxSize));
  }
  if (weights.size() - 1 > std::numeric_limits<std::uint64_t>::max() - first.value()) {
    throw UsageError(fmt::format("a distribution of {} weights from key {} on: there are not so many keys",
                                 weights.size(), first.value()));
  }
  bool any = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0) {
      throw UsageError(fmt::format(
          "weight {} of a distribution is {}: expected a finite number that is not negative", i, weights[i]));
    }
    any = any || weights[i] > 0;
  }
  if (!any)
    throw UsageError(
        fmt::format("all {} weights of a distribution are 0: expected one above 0", weights.size()));
}

void check_keys(std::span<const Key> keys, std::size_t weights) {
  if (keys.size() != weights) {
    throw UsageError(
        fmt::format("a distribution of {} keys with {} weights: expected as many", keys.size(), weights));
  }
  std::vector<Key> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::adjacent_find(sorted);
  if (repeated != sorted.end()) {
    throw UsageError(
        fmt::format("key {} has several weights in a distribution: expected one", repeated->value()));
  }
}

// Returns make(); turns std::bad_alloc into OutOfMemory.
template <class Make>
auto with_memory(std::size_t weights, Make&& make) {
  try {
    return std::forward<Make>(make)();
  } catch (const std::bad_alloc&) {
    throw lapse::OutOfMemory(fmt::format("no memory for a distribution of {} weights", weights));
  }
}

}  // namespace

// --- construction

Distribution::Distribution(Kind kind, KeyRange range)
    : kind_(kind),
      base_(range.first),
      first_(range.first),
      last_(range.end.value() - 1),
      size_(range.size()),
      support_(range.size()),
      log_size_(std::log1p(static_cast<double>(range.size()))) {}

Distribution::Distribution(std::span<const double> weights, Key first, std::vector<Key> keys)
    : kind_(Kind::weighted),
      base_(first),
      first_(std::numeric_limits<std::uint64_t>::max()),
      last_(0),
      size_(weights.size()),
      support_(static_cast<std::uint64_t>(std::ranges::count_if(weights, [](double w) { return w > 0; }))),
      table_(weights),
      keys_(std::move(keys)) {
  for (std::uint64_t number = 0; number < size_; ++number) {
    if (weights[number] == 0) continue;
    first_ = std::min(first_, key(number));
    last_ = std::max(last_, key(number));
  }
}

Distribution::Shared Distribution::uniform(KeyRange range) {
  check_range(range, "uniform");
  return Shared(new Distribution(Kind::uniform, range));
}

Distribution::Shared Distribution::log_uniform(KeyRange range) {
  check_range(range, "log-uniform");
  return Shared(new Distribution(Kind::log_uniform, range));
}

Distribution::Shared Distribution::by_frequency(std::span<const std::uint64_t> counts, double exponent,
                                                Key first) {
  if (!std::isfinite(exponent))
    throw UsageError(
        fmt::format("a distribution of counts to the power of {}: expected a finite number", exponent));
  return with_memory(counts.size(), [&] {
    std::vector<double> weights(counts.size());
    std::ranges::transform(counts, weights.begin(), [exponent](std::uint64_t count) {
      return count == 0 ? 0 : std::pow(static_cast<double>(count), exponent);
    });
    return weighted(weights, first);
  });
}

Distribution::Shared Distribution::weighted(std::span<const double> weights, Key first) {
  check_weights(weights, first);
  return with_memory(weights.size(), [&] { return Shared(new Distribution(weights, first, {})); });
}

Distribution::Shared Distribution::weighted(std::span<const Key> keys, std::span<const double> weights) {
  return with_memory(weights.size(), [&] {
    check_keys(keys, weights.size());
    check_weights(weights, Key(0));
    return Shared(new Distribution(weights, Key(0), std::vector<Key>(keys.begin(), keys.end())));
  });
}

// --- draws

Key Distribution::draw_log_uniform(lapse::RandomEngine& random) const {
  const auto number = static_cast<std::uint64_t>(std::expm1(random.uniform() * log_size_));
  return key(std::min(number, size_ - 1));
}

void Distribution::draw(lapse::RandomEngine& random, std::span<Key> keys) const {
  // A copy, so that it stays in registers.
  lapse::RandomEngine engine = random;
  if (table_) {
    const AliasTable& table = *table_;
    for (Key& to : keys) to = key(table.draw(engine));
  } else if (kind_ == Kind::uniform) {
    for (Key& to : keys) to = key(engine.below(size_));
  } else {
    for (Key& to : keys) to = draw_log_uniform(engine);
  }
  random = engine;
}

// --- properties

std::vector<Distribution::KeyProbability> Distribution::probabilities() const {
  std::vector<KeyProbability> all;
  if (table_) {
    const std::vector<double> by_number = table_->probabilities();
    all.reserve(support_);
    for (std::uint64_t number = 0; number < size_; ++number) {
      if (by_number[number] > 0) all.push_back({key(number), by_number[number]});
    }
    return all;
  }
  all.reserve(size_);
  for (std::uint64_t number = 0; number < size_; ++number) {
    const double probability = kind_ == Kind::uniform
                                   ? 1 / static_cast<double>(size_)
                                   : std::log1p(1 / static_cast<double>(number + 1)) / log_size_;
    all.push_back({key(number), probability});
  }
  return all;
}

std::size_t Distribution::memory_bytes() const {
  return sizeof *this + (table_ ? table_->bytes() : 0) + keys_.capacity() * sizeof(Key);
}

std::string Distribution::to_text() const {
  if (!table_) {
    return fmt::format("{} over the keys {} to {}", kind_ == Kind::uniform ? "uniform" : "log-uniform",
                       first_.value(), last_.value());
  }
  std::uint64_t checksum = table_->checksum();
  for (const Key key : keys_) checksum = lapse::mix_bits(checksum ^ key.value());
  return fmt::format("{} weights of keys from {} to {}, checksum {:x}", size_, first_.value(), last_.value(),
                     checksum);
}

}  // namespace adapm

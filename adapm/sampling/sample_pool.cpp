#include "adapm/sampling/sample_pool.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace adapm {

using lapse::Clock;
using lapse::Key;

namespace {

double as_double(Clock clock) {
  return static_cast<double>(clock.value());
}

Clock clock_at(double clock) {
  constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
  return Clock(clock >= static_cast<double>(kLast) ? kLast : static_cast<std::int64_t>(clock));
}

}  // namespace

void SamplePool::restart(std::uint64_t seed) {
  seed_ = seed;
  pools_ = 0;
  keys_.clear();
  pass_ = 0;
  next_ = 0;
  announced_ = false;
}

void SamplePool::take(std::size_t keys, Clock start, Clock end, std::vector<Key>& to, DistinctDraws& taken,
                      const Announce& announce) {
  const std::size_t size = to.size() + keys;
  while (to.size() < size) {
    if (next_ == keys_.size()) next_pass();
    cover(start, end, announce);
    if (sampling_.with_replacement) {
      const std::size_t count = std::min(size - to.size(), keys_.size() - next_);
      const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(next_);
      to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(count));
      next_ += count;
      continue;
    }
    for (; next_ < keys_.size() && to.size() < size; ++next_) {
      if (taken.take(keys_[next_])) to.push_back(keys_[next_]);
    }
  }
}

void SamplePool::next_pass() {
  next_ = 0;
  if (keys_.empty() || ++pass_ == sampling_.pool_uses) return draw_pool();
  for (std::size_t i = keys_.size(); i > 1; --i) std::swap(keys_[i - 1], keys_[random_.below(i)]);
}

void SamplePool::draw_pool() {
  // Lower numbers are streams of samples.
  constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 63;
  random_ = lapse::RandomEngine(seed_, kFirstStream + pools_++);
  pass_ = 0;
  announced_ = false;
  std::vector<Key> keys = std::exchange(keys_, {});
  keys.resize(sampling_.pool_keys);
  if (sampling_.with_replacement) {
    distribution_.draw(random_, keys);
  } else {
    distinct_.clear();  // an earlier call may have failed
    for (Key& key : keys) key = distinct_.draw(distribution_, random_);
    distinct_.clear();
  }
  keys_ = std::move(keys);
}

void SamplePool::cover(Clock start, Clock end, const Announce& announce) {
  const double used =
      static_cast<double>(pass_) * static_cast<double>(keys_.size()) + static_cast<double>(next_);
  if (used == 0) first_ = start;
  if (used > 0) clocks_per_key_ = std::max(0.0, (as_double(start) - as_double(first_)) / used);
  if (announced_ && start >= begin_ && end <= end_) return;
  const double all = static_cast<double>(sampling_.pool_uses) * static_cast<double>(keys_.size());
  double until = as_double(first_) + clocks_per_key_ * all + (as_double(end) - as_double(start));
  // Keeps announcements few even if clocks are irregular.
  if (announced_) until = std::max(until, as_double(end_) + (as_double(end_) - as_double(first_)) / 4);
  const Clock announced_end = std::max(end, clock_at(until));
  announce(keys_, start, announced_end);
  announced_ = true;
  begin_ = start;
  end_ = announced_end;
}

}  // namespace adapm

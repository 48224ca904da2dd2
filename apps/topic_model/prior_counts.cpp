#include "apps/topic_model/prior_counts.hpp"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "lapse/core/error.hpp"

namespace lapse::apps {

void CountHistogram::add(std::int64_t count, std::int64_t times) {
  if (count <= 0) return;
  const auto index = static_cast<std::size_t>(count);
  if (index >= kSmall) {
    large_[count] += times;
    return;
  }
  if (index >= small_.size()) small_.resize(index + 1);
  small_[index] += times;
}

std::vector<CountHistogram::Bin> CountHistogram::bins() const {
  std::vector<Bin> bins;
  for (std::size_t count = 0; count < small_.size(); ++count)
    if (small_[count] != 0) bins.push_back({static_cast<std::int64_t>(count), small_[count]});
  for (const auto& [count, times] : large_) bins.push_back({count, times});
  return bins;
}

void PriorCounts::add_document(std::span<const std::int32_t> topics) {
  for (std::size_t topic = 0; topic < topics.size(); ++topic) topics_[topic].add(topics[topic]);
  documents_.add(std::accumulate(topics.begin(), topics.end(), std::int64_t{0}));
}

void PriorCounts::add_words(std::span<const std::int32_t> topics) {
  for (const std::int32_t count : topics) words_.add(count);
}

void PriorCounts::add_totals(std::span<const std::int64_t> topics) {
  for (const std::int64_t count : topics) totals_.add(count);
}

std::string PriorCounts::to_bytes() const {
  std::vector<std::int64_t> numbers;
  const auto write = [&](const CountHistogram& histogram) {
    const std::vector<CountHistogram::Bin> bins = histogram.bins();
    numbers.push_back(static_cast<std::int64_t>(bins.size()));
    for (const CountHistogram::Bin& bin : bins) numbers.insert(numbers.end(), {bin.count, bin.times});
  };
  for (const CountHistogram& histogram : topics_) write(histogram);
  for (const CountHistogram* const histogram : {&documents_, &words_, &totals_}) write(*histogram);
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t)};
}

void PriorCounts::add_bytes(std::string_view bytes) {
  const auto next = [&] {
    std::int64_t number = 0;
    if (bytes.size() < sizeof number)
      throw ProtocolError(
          fmt::format("counts of a topic model end early, expected those of {} topics", topics_.size()));
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes.remove_prefix(sizeof number);
    return number;
  };
  const auto read = [&](CountHistogram& histogram) {
    for (std::int64_t bins = next(); bins > 0; --bins) {
      const std::int64_t count = next();
      histogram.add(count, next());
    }
  };
  for (CountHistogram& histogram : topics_) read(histogram);
  for (CountHistogram* const histogram : {&documents_, &words_, &totals_}) read(*histogram);
  if (!bytes.empty())
    throw ProtocolError(fmt::format("{} bytes after the counts of {} topics", bytes.size(), topics_.size()));
}

}  // namespace lapse::apps

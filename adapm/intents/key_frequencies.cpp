#include "adapm/intents/key_frequencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "lapse/core/error.hpp"

namespace adapm {

using lapse::Key;
using lapse::TableId;

namespace {

struct KeyCount {
  Key key;
  std::uint64_t count;
};

// Exceeded by counts above factor times the mean of `keys` keys.
class Threshold {
 public:
  Threshold(double sum, std::uint64_t keys, double factor)
      : threshold_(keys == 0 ? 0 : factor * sum / static_cast<double>(keys)) {}
  bool is_exceeded(std::uint64_t count) const { return static_cast<double>(count) > threshold_; }

 private:
  double threshold_;
};

}  // namespace

std::vector<Key> frequent_keys(std::span<const std::uint64_t> counts, double factor) {
  double sum = 0;
  for (const std::uint64_t count : counts) sum += static_cast<double>(count);
  const Threshold threshold(sum, counts.size(), factor);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (threshold.is_exceeded(counts[i])) keys.emplace_back(i);
  }
  return keys;
}

void KeyFrequencies::count(TableId table, std::span<const Key> keys) {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return;
  for (const Key key : keys) ++found->second[key];
}

std::string KeyFrequencies::to_bytes(TableId table) const {
  const auto found = tables_.find(table);
  std::string bytes;
  if (found == tables_.end()) return bytes;
  bytes.resize(found->second.size() * sizeof(KeyCount));
  char* to = bytes.data();
  for (const auto& [key, count] : found->second) {
    const KeyCount one{key, count};
    std::memcpy(to, &one, sizeof one);
    to += sizeof one;
  }
  return bytes;
}

void KeyFrequencies::add_bytes(const std::string& bytes, Counts& counts) {
  if (bytes.size() % sizeof(KeyCount) != 0)
    throw lapse::ProtocolError(fmt::format("{} bytes are no counts of keys", bytes.size()));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(KeyCount)) {
    KeyCount one{};
    std::memcpy(&one, bytes.data() + at, sizeof one);
    counts[one.key] += one.count;
  }
}

std::vector<Key> KeyFrequencies::frequent(const Counts& counts, std::uint64_t keys, double factor) {
  double sum = 0;
  for (const auto& [key, count] : counts) sum += static_cast<double>(count);
  const Threshold threshold(sum, keys, factor);
  std::vector<Key> frequent;
  for (const auto& [key, count] : counts) {
    if (threshold.is_exceeded(count)) frequent.push_back(key);
  }
  std::ranges::sort(frequent);
  return frequent;
}

}  // namespace adapm

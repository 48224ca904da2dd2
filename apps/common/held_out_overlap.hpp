// Warns if held-out data are also training data.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace lapse::apps {

// "22 of 22 triples are training triples, too: …"; empty if fewer than half of those checked were found.
std::string overlap_text(std::size_t found, std::size_t looked_at, std::size_t held_out,
                         std::string_view noun);

// A warning if half or more of the held-out elements are training data; else empty. Elements are equal if
// `key_of` gives equal tuples. Checks a few thousand held-out elements against all training data.
template <class T, class KeyOf>
std::string overlap_warning(const std::vector<T>& held_out, const std::vector<T>& train,
                            std::string_view noun, KeyOf key_of) {
  using Key = decltype(key_of(held_out.front()));
  constexpr std::size_t kMaxLookedAt = 4096;
  const std::size_t looked_at = std::min(held_out.size(), kMaxLookedAt);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < looked_at; ++i)
    keys.push_back(key_of(held_out[held_out.size() / looked_at * i]));
  std::ranges::sort(keys);
  // A filter that excludes most training data.
  std::bitset<std::size_t{1} << 16> firsts;
  const auto bit = [&](const Key& key) {
    return (std::get<0>(key) * 0x9e37U + std::get<1>(key) * 0x85ebU) % firsts.size();
  };
  for (const Key& key : keys) firsts.set(bit(key));
  std::vector<bool> found(keys.size());
  for (const T& element : train) {
    const Key key = key_of(element);
    if (!firsts[bit(key)]) continue;
    const auto [begin, end] = std::equal_range(keys.begin(), keys.end(), key);
    for (auto one = begin; one != end; ++one) found[static_cast<std::size_t>(one - keys.begin())] = true;
  }
  return overlap_text(static_cast<std::size_t>(std::ranges::count(found, true)), looked_at, held_out.size(),
                      noun);
}

}  // namespace lapse::apps

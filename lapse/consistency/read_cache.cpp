#include "lapse/consistency/read_cache.hpp"

#include <algorithm>
#include <utility>

namespace lapse {

const std::byte* ReadCache::find(Key key, Level least) const {
  const auto found = entries_.find(key.value());
  return found == entries_.end() || found->second.stamp < least ? nullptr : found->second.value.data();
}

void ReadCache::insert(Key key, Level stamp, std::span<const std::byte> value) {
  Entry entry{.stamp = stamp, .value = {value.begin(), value.end()}};
  entries_[key.value()] = std::move(entry);
}

void ReadCache::drop_older(Level least) {
  if (entries_.size() < 2 * std::max(kept_, kFewest)) return;
  std::erase_if(entries_, [least](const auto& entry) { return entry.second.stamp < least; });
  kept_ = entries_.size();
}

}  // namespace lapse

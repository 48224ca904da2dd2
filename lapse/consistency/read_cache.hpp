// Values that a worker has read, for as long as they are new enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/worker/worker_level.hpp"

namespace lapse {

// The cache of one worker and table under SSP (docs/consistency.md). Each value has a *stamp*: it shows all
// updates of others from before this clock, and all of the worker's own.
//
// Thread safety: the worker's thread.
class ReadCache {
 public:
  // Returns the value, if its stamp is at least `least`; null otherwise.
  const std::byte* find(Key key, Level least) const;
  // Throws std::bad_alloc and then has no effect.
  void insert(Key key, Level stamp, std::span<const std::byte> value);
  void erase(Key key) { entries_.erase(key.value()); }
  void clear() { entries_.clear(); }
  // Changes the value, if there is one.
  template <class F>
  void change(Key key, F&& f) {
    if (const auto found = entries_.find(key.value()); found != entries_.end()) f(found->second.value.data());
  }
  // Values with older stamps are of no use any more. Removes them once the cache has doubled since the last
  // time, so that a clock costs no visit to all.
  void drop_older(Level least);
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kFewest = 256;

  struct Entry {
    Level stamp = 0;
    std::vector<std::byte> value;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::size_t kept_ = 0;  // after the last removal
};

}  // namespace lapse

// A sink of wants that counts them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lapse/protocol/table/intent_source.hpp"

namespace adapm::test {

// Throws std::logic_error if a call violates the interface: a key twice in a call, or an unwant without a
// want.
class WantRecorder final : public lapse::WantSink {
 public:
  using TableKey = std::pair<std::uint32_t, std::uint64_t>;

  void want(lapse::TableId table, std::span<const lapse::Key> keys) override {
    check_distinct(keys);
    for (const lapse::Key key : keys)
      if (++counts[{table.value(), key.value()}] == 1) on.insert({table.value(), key.value()});
    calls.push_back(keys.size());
  }
  void unwant(lapse::TableId table, std::span<const lapse::Key> keys) override {
    check_distinct(keys);
    for (const lapse::Key key : keys) {
      const auto found = counts.find({table.value(), key.value()});
      if (found == counts.end()) throw std::logic_error("an unwant of a key that is not wanted");
      if (--found->second > 0) continue;
      counts.erase(found);
      off.insert({table.value(), key.value()});
    }
    calls.push_back(keys.size());
  }

  // The wanted keys of a table.
  std::vector<std::uint64_t> wanted(std::uint32_t table = 0) const {
    std::vector<std::uint64_t> keys;
    for (const auto& [key, count] : counts)
      if (key.first == table) keys.push_back(key.second);
    return keys;
  }
  void clear_changes() {
    on.clear();
    off.clear();
    calls.clear();
  }

  std::map<TableKey, int> counts;
  std::set<TableKey> on;   // became wanted since the last clear_changes
  std::set<TableKey> off;  // no longer wanted since then
  std::vector<std::size_t> calls;

 private:
  static void check_distinct(std::span<const lapse::Key> keys) {
    if (keys.empty()) throw std::logic_error("a call without keys");
    if (std::set<lapse::Key>(keys.begin(), keys.end()).size() != keys.size())
      throw std::logic_error("a key twice in a call");
  }
};

}  // namespace adapm::test

// Access counts of keys, and the choice of frequent keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lapse/core/types.hpp"

namespace adapm {

// Returns the keys whose count exceeds `factor` times the mean over all keys, in ascending order: the
// heuristic of NuPS (Renz-Wieland et al., SIGMOD 2022), which uses the factor 100. `counts`: by key, 0 to
// counts.size() - 1.
std::vector<lapse::Key> frequent_keys(std::span<const std::uint64_t> counts, double factor);

// Counts by table and key. Keys never counted take no memory.
//
// Thread safety: none.
class KeyFrequencies {
 public:
  using Counts = std::unordered_map<lapse::Key, std::uint64_t>;

  // Starts counting the keys of this table.
  void add_table(lapse::TableId table) { tables_[table]; }
  bool has_table(lapse::TableId table) const { return tables_.contains(table); }
  void remove_table(lapse::TableId table) { tables_.erase(table); }
  bool empty() const { return tables_.empty(); }

  void count(lapse::TableId table, std::span<const lapse::Key> keys);

  // Serializes the counts of a table for other ranks; adds serialized counts of another rank. Throws
  // ProtocolError for malformed bytes.
  std::string to_bytes(lapse::TableId table) const;
  static void add_bytes(const std::string& bytes, Counts& counts);

  // Like frequent_keys, sorted by key. `keys`: the number of keys in the mean; for a sparse table, the keys
  // that were counted.
  static std::vector<lapse::Key> frequent(const Counts& counts, std::uint64_t keys, double factor);

 private:
  std::unordered_map<lapse::TableId, Counts> tables_;
};

}  // namespace adapm

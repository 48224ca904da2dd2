// How often keys are accessed, and which of them are frequent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lapse/core/types.hpp"

namespace adapm {

// The keys whose count exceeds `factor` times the mean over all keys, in the order given: the heuristic of
// NuPS (Renz-Wieland et al., SIGMOD 2022), which replicates those above 100 times the mean.
// `counts`: by key, 0 to counts.size() - 1.
std::vector<lapse::Key> frequent_keys(std::span<const std::uint64_t> counts, double factor);

// Counts by key and table, for keys that are counted at all.
//
// Thread safety: none.
class KeyFrequencies {
 public:
  using Counts = std::unordered_map<lapse::Key, std::uint64_t>;

  // From now on the keys of this table are counted.
  void add_table(lapse::TableId table) { tables_[table]; }
  bool has_table(lapse::TableId table) const { return tables_.contains(table); }
  void remove_table(lapse::TableId table) { tables_.erase(table); }
  bool empty() const { return tables_.empty(); }

  void count(lapse::TableId table, std::span<const lapse::Key> keys);

  // The counts of a table as bytes for other ranks, and added from those of another rank. Throws
  // ProtocolError for bytes that are no counts.
  std::string to_bytes(lapse::TableId table) const;
  static void add_bytes(const std::string& bytes, Counts& counts);

  // As above, in the order of the keys. `keys`: over which the mean is taken; for a sparse table those that
  // were counted.
  static std::vector<lapse::Key> frequent(const Counts& counts, std::uint64_t keys, double factor);

 private:
  std::unordered_map<lapse::TableId, Counts> tables_;
};

}  // namespace adapm

// The contents of a checkpoint.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/checkpoint/shard_format.hpp"
#include "lapse/checkpoint/shard_writer.hpp"

namespace lapse {

struct TableRecord {
  std::string name;
  bool sparse = false;
  std::uint64_t keys = 0;  // dense tables
  CheckpointElement element = CheckpointElement::float32;
  std::uint64_t length = 0;          // elements of every value; 0 if each key has its own
  std::uint64_t state_elements = 0;  // beside every value; 0 if each key has its own
  std::string update_rule;           // its name
  std::string update_rule_text;      // with its parameters
  std::string initialiser;
  std::uint64_t seed = 0;  // of the initialiser
  std::vector<ShardRecord> shards;

  std::uint64_t entries() const;
  std::uint64_t bytes() const;       // of its shards
  std::uint64_t not_finite() const;  // likewise
  bool operator==(const TableRecord&) const = default;
};

// Bytes that the application has added.
struct BlobRecord {
  std::string file;  // within the folder of its checkpoint
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;

  bool operator==(const BlobRecord&) const = default;
};

// When a checkpoint was saved. Of two checkpoints of a folder, the newer one compares larger.
struct SavedAt {
  std::uint64_t order = 0;  // Manifest::order
  std::uint64_t step = 0;   // compared if the order is not known

  auto operator<=>(const SavedAt&) const = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& order& step;
  }
};

// The contents of the file manifest.json, which is written last. Without it a checkpoint does not exist.
struct Manifest {
  static constexpr std::string_view kFile = "manifest.json";
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t checkpoint = 0;  // a random id, unique with high probability
  std::uint64_t step = 0;
  std::uint64_t ranks = 0;  // that wrote it
  std::uint64_t run = 0;    // the number of the folder of all ranks (FolderLock); 0: not known
  // Larger than that of any earlier checkpoint in the folder, whatever its step; 0: not known.
  std::uint64_t order = 0;
  std::vector<TableRecord> tables;
  std::optional<BlobRecord> global;
  std::vector<BlobRecord> per_worker;  // in the order of the workers of all ranks
  std::vector<std::int64_t> clocks;    // of these workers, if the application gave any

  SavedAt saved_at() const { return {order, step}; }
  // Returns null if there is none.
  const TableRecord* table(std::string_view name) const;
  // Returns the names of all files of the checkpoint except the manifest, sorted.
  std::vector<std::string> files() const;
  std::uint64_t bytes() const;  // of shards and blobs
  // Infinite numbers and NaNs in all tables. A checkpoint without any is healthy.
  std::uint64_t not_finite() const;
  // Returns "table 'factors' has 20 numbers that are not finite", for each such table; empty if healthy.
  std::string not_finite_text() const;
  bool operator==(const Manifest&) const = default;

  // Throws UsageError if a name is not UTF-8.
  std::string to_text() const;
  // Throws CheckpointError, naming `file`.
  static Manifest from_text(std::string_view text, const std::string& file);
};

}  // namespace lapse

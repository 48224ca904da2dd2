// What a checkpoint consists of.
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
  std::uint64_t length = 0;          // elements of every value; 0: each key has its own
  std::uint64_t state_elements = 0;  // beside every value; 0 where each key has its own
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

// Bytes of the application.
struct BlobRecord {
  std::string file;  // within the folder of its checkpoint
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;

  bool operator==(const BlobRecord&) const = default;
};

// When a checkpoint was saved, compared with others of its folder: the newer one is larger.
struct SavedAt {
  std::uint64_t order = 0;  // Manifest::order
  std::uint64_t step = 0;   // counts where the order is not known

  auto operator<=>(const SavedAt&) const = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& order& step;
  }
};

// The contents of the file manifest.json, which is written last: a checkpoint without it does not exist.
struct Manifest {
  static constexpr std::string_view kFile = "manifest.json";
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t checkpoint = 0;  // a number that no other checkpoint has, almost surely
  std::uint64_t step = 0;
  std::uint64_t ranks = 0;  // that wrote it
  std::uint64_t run = 0;    // the number of the folder that all ranks see (FolderLock); 0: not known
  // Larger than that of every checkpoint that the folder had before, whatever its step; 0: not known.
  std::uint64_t order = 0;
  std::vector<TableRecord> tables;
  std::optional<BlobRecord> global;
  std::vector<BlobRecord> per_worker;  // in the order of the workers of all ranks
  std::vector<std::int64_t> clocks;    // of these workers, where the application gave any

  SavedAt saved_at() const { return {order, step}; }
  // Null where there is none.
  const TableRecord* table(std::string_view name) const;
  // Names of all files of the checkpoint but the manifest, in order.
  std::vector<std::string> files() const;
  std::uint64_t bytes() const;  // of shards and blobs
  // Numbers of all tables that are infinite or not a number. A checkpoint without any is healthy.
  std::uint64_t not_finite() const;
  // "table 'factors' has 20 numbers that are not finite", of each such table; empty for a healthy one.
  std::string not_finite_text() const;
  bool operator==(const Manifest&) const = default;

  // Throws UsageError where a name is no UTF-8.
  std::string to_text() const;
  // Throws CheckpointError, as `file`.
  static Manifest from_text(std::string_view text, const std::string& file);
};

}  // namespace lapse

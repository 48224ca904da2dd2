#include "apps/checkpoint_tool/table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse::apps {

namespace {

// Orders a heap with the smallest key first.
constexpr auto kLater = [](const auto* a, const auto* b) { return a->key() > b->key(); };

}  // namespace

// Reads the entries of one shard in ascending order of keys, one block at a time.
class TableRows::Shard {
 public:
  Shard(const CheckpointFolder& folder, const Manifest& manifest, const ShardRecord& record, KeyInterval keys)
      : reader_(folder.open(manifest, record)), keys_(keys) {
    find();
  }

  bool at_end() const { return !block_; }
  std::uint64_t key() const { return block_->keys()[entry_]; }
  ShardEntry entry() const { return block_->entry(entry_); }
  void advance() {
    ++entry_;
    find();
  }

 private:
  // Skips to the first entry in the interval, starting at the current one.
  void find() {
    for (;;) {
      while (block_ && entry_ < block_->size() && key() < keys_.first) ++entry_;
      if (block_ && entry_ < block_->size()) {
        if (key() > keys_.last) block_.reset();
        return;
      }
      block_.reset();
      const auto blocks = reader_.blocks();
      while (next_ < blocks.size() && blocks[next_].last_key < keys_.first) ++next_;
      if (next_ == blocks.size() || blocks[next_].first_key > keys_.last) return;
      block_.emplace(reader_.read(blocks[next_++]));
      entry_ = 0;
    }
  }

  ShardReader reader_;
  KeyInterval keys_;
  std::optional<ShardBlock> block_;
  std::size_t entry_ = 0;
  std::size_t next_ = 0;  // next block
};

const TableRecord& chosen_table(const CheckpointFolder& folder, const Manifest& manifest,
                                const std::string& name) {
  const std::string file = folder.file_path(manifest.step, std::string(Manifest::kFile));
  if (name.empty() && manifest.tables.size() == 1) return manifest.tables[0];
  if (const TableRecord* const table = manifest.table(name)) return *table;
  std::string names;
  for (const TableRecord& table : manifest.tables) names += fmt::format(" '{}'", table.name);
  throw CheckpointError(CheckpointError::Reason::mismatch, file,
                        fmt::format("has no table '{}': expected one of{}", name, names));
}

TableRows::TableRows(const CheckpointFolder& folder, const Manifest& manifest, const TableRecord& table,
                     KeyInterval keys) {
  for (const ShardRecord& record : table.shards) {
    if (record.entries == 0 || record.last_key < keys.first || record.first_key > keys.last) continue;
    shards_.push_back(std::make_unique<Shard>(folder, manifest, record, keys));
    enqueue(shards_.back().get());
  }
}

TableRows::~TableRows() = default;

void TableRows::enqueue(Shard* shard) {
  if (shard->at_end()) return;
  queue_.push_back(shard);
  std::ranges::push_heap(queue_, kLater);
}

ShardEntry TableRows::entry() const {
  return queue_.front()->entry();
}

void TableRows::advance() {
  std::ranges::pop_heap(queue_, kLater);
  Shard* const shard = queue_.back();
  queue_.pop_back();
  shard->advance();
  enqueue(shard);
}

}  // namespace lapse::apps

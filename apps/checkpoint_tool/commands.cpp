#include "apps/checkpoint_tool/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse::apps {

namespace {

std::string line_of(const Manifest& manifest) {
  std::uint64_t entries = 0;
  for (const TableRecord& table : manifest.tables) entries += table.entries();
  return fmt::format("step {}: {} tables, {} keys, {} bytes, by {} ranks", manifest.step,
                     manifest.tables.size(), entries, manifest.bytes(), manifest.ranks);
}

template <class T>
void append_elements(std::string& line, std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof element);
    fmt::format_to(std::back_inserter(line), "{}{}", at == 0 ? "\t" : " ", element);
  }
}

void append_elements(std::string& line, CheckpointElement type, std::span<const std::byte> bytes) {
  switch (type) {
    case CheckpointElement::float32:
      return append_elements<float>(line, bytes);
    case CheckpointElement::float64:
      return append_elements<double>(line, bytes);
    case CheckpointElement::int32:
      return append_elements<std::int32_t>(line, bytes);
    case CheckpointElement::int64:
      return append_elements<std::int64_t>(line, bytes);
  }
}

// Reads the entries of one shard in rising order of keys, one block at a time.
class ShardCursor {
 public:
  ShardCursor(std::unique_ptr<ShardReader> shard, KeyInterval keys) : shard_(std::move(shard)), keys_(keys) {
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
  // Goes on to the next entry of the interval, this one included.
  void find() {
    for (;;) {
      while (block_ && entry_ < block_->size() && key() < keys_.first) ++entry_;
      if (block_ && entry_ < block_->size()) {
        if (key() > keys_.last) block_.reset();
        return;
      }
      block_.reset();
      const auto blocks = shard_->blocks();
      while (next_ < blocks.size() && blocks[next_].last_key < keys_.first) ++next_;
      if (next_ == blocks.size() || blocks[next_].first_key > keys_.last) return;
      block_.emplace(shard_->read(blocks[next_++]));
      entry_ = 0;
    }
  }

  std::unique_ptr<ShardReader> shard_;
  KeyInterval keys_;
  std::optional<ShardBlock> block_;
  std::size_t entry_ = 0;
  std::size_t next_ = 0;  // block
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

}  // namespace

std::optional<KeyInterval> key_interval(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc{} || result.ptr != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const std::size_t dash = text.find('-');
  KeyInterval keys;
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  if (first.empty() && last.empty()) return std::nullopt;
  if (!first.empty()) {
    const auto value = number(first);
    if (!value) return std::nullopt;
    keys.first = *value;
  }
  if (!last.empty()) {
    const auto value = number(last);
    if (!value) return std::nullopt;
    keys.last = *value;
  }
  return keys.first <= keys.last ? std::optional(keys) : std::nullopt;
}

bool list_checkpoints(const CheckpointFolder& folder) {
  bool readable = true;
  for (const std::uint64_t step : folder.steps()) {
    try {
      fmt::print("{}\n", line_of(folder.manifest(step)));
    } catch (const CheckpointError& error) {
      fmt::print("step {}: {}: {}\n", step, reason_name(error.reason()), error.what());
      readable = false;
    }
  }
  return readable;
}

bool verify_checkpoints(const CheckpointFolder& folder, std::optional<std::uint64_t> step) {
  bool whole = true;
  const std::vector<std::uint64_t> steps = step ? std::vector{*step} : folder.steps();
  if (steps.empty())
    throw CheckpointError(CheckpointError::Reason::missing, folder.path(), "has no checkpoint");
  for (const std::uint64_t one : steps) {
    try {
      const Manifest manifest = folder.manifest(one);
      folder.check(manifest, CheckpointFolder::Check::contents);
      fmt::print("{}: whole\n", line_of(manifest));
    } catch (const CheckpointError& error) {
      fmt::print("step {}: {}: {}\n", one, reason_name(error.reason()), error.what());
      whole = false;
    }
  }
  return whole;
}

void show_checkpoint(const CheckpointFolder& folder, const Manifest& manifest) {
  fmt::print("{}\nfolder {}\ncheckpoint {:016x}\n", line_of(manifest), folder.step_path(manifest.step),
             manifest.checkpoint);
  for (const TableRecord& table : manifest.tables) {
    const std::string keys =
        table.sparse ? fmt::format("sparse, {} keys", table.entries()) : fmt::format("{} keys", table.keys);
    const std::string length =
        table.length == 0 ? "a length for each key"
                          : fmt::format("{} elements and {} of state", table.length, table.state_elements);
    fmt::print("table '{}': {}, {}, {}; update rule {}; initialiser {}, seed {}\n", table.name, keys,
               element_name(table.element), length, table.update_rule_text, table.initialiser, table.seed);
    for (const ShardRecord& shard : table.shards) {
      fmt::print("  {}: {} keys, {} to {}, {} bytes\n", shard.file, shard.entries, shard.first_key,
                 shard.last_key, shard.bytes);
    }
  }
  if (manifest.global) fmt::print("global: {}, {} bytes\n", manifest.global->file, manifest.global->bytes);
  for (std::size_t i = 0; i < manifest.per_worker.size(); ++i)
    fmt::print("worker {}: {}, {} bytes\n", i, manifest.per_worker[i].file, manifest.per_worker[i].bytes);
  if (!manifest.clocks.empty()) fmt::print("clocks: {}\n", fmt::join(manifest.clocks, " "));
}

void extract_keys(const CheckpointFolder& folder, const Manifest& manifest, const ExtractRequest& request) {
  const TableRecord& table = chosen_table(folder, manifest, request.table);
  std::vector<std::unique_ptr<ShardCursor>> cursors;
  for (const ShardRecord& record : table.shards) {
    if (record.entries == 0 || record.last_key < request.keys.first || record.first_key > request.keys.last)
      continue;
    auto shard = std::make_unique<ShardReader>(folder.file_path(manifest.step, record.file), record,
                                               manifest.checkpoint);
    cursors.push_back(std::make_unique<ShardCursor>(std::move(shard), request.keys));
  }
  const auto later = [](const ShardCursor* a, const ShardCursor* b) { return a->key() > b->key(); };
  std::priority_queue<ShardCursor*, std::vector<ShardCursor*>, decltype(later)> queue(later);
  for (const auto& cursor : cursors)
    if (!cursor->at_end()) queue.push(cursor.get());
  while (!queue.empty()) {
    ShardCursor& cursor = *queue.top();
    queue.pop();
    const ShardEntry entry = cursor.entry();
    std::string line = fmt::format("{}", entry.key);
    append_elements(line, table.element, entry.value);
    if (request.state) append_elements(line, table.element, entry.state);
    fmt::print("{}\n", line);
    cursor.advance();
    if (!cursor.at_end()) queue.push(&cursor);
  }
}

}  // namespace lapse::apps

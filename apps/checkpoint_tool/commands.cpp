#include "apps/checkpoint_tool/commands.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "apps/checkpoint_tool/table_rows.hpp"
#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse::apps {

namespace {

// The newest last.
std::vector<std::uint64_t> steps_by_age(const CheckpointFolder& folder) {
  std::vector<std::uint64_t> steps;
  for (const CheckpointFolder::Saved& one : folder.saved()) steps.push_back(one.at.step);
  return steps;
}

std::string line_of(const Manifest& manifest) {
  std::uint64_t entries = 0;
  for (const TableRecord& table : manifest.tables) entries += table.entries();
  const std::uint64_t not_finite = manifest.not_finite();
  return fmt::format("step {}: {} tables, {} keys, {} bytes, by {} ranks{}", manifest.step,
                     manifest.tables.size(), entries, manifest.bytes(), manifest.ranks,
                     not_finite == 0 ? "" : fmt::format(", {} numbers not finite", not_finite));
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

}  // namespace

Manifest chosen_manifest(const CheckpointFolder& folder, std::optional<std::uint64_t> step) {
  if (step) return folder.manifest(*step);
  const std::vector<std::uint64_t> steps = steps_by_age(folder);
  if (steps.empty())
    throw CheckpointError(CheckpointError::Reason::missing, folder.path(), "has no checkpoint");
  return folder.manifest(steps.back());
}

bool list_checkpoints(const CheckpointFolder& folder) {
  bool readable = true;
  for (const std::uint64_t step : steps_by_age(folder)) {
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
  const std::vector<std::uint64_t> steps = step ? std::vector{*step} : steps_by_age(folder);
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
    if (table.not_finite() != 0) fmt::print("  {} numbers are not finite\n", table.not_finite());
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
  for (TableRows rows(folder, manifest, table, request.keys); !rows.at_end(); rows.advance()) {
    const ShardEntry entry = rows.entry();
    std::string line = fmt::format("{}", entry.key);
    append_elements(line, table.element, entry.value);
    if (request.state) append_elements(line, table.element, entry.state);
    fmt::print("{}\n", line);
  }
}

}  // namespace lapse::apps

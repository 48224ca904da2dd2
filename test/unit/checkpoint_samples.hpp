// Small shards and checkpoints for tests of the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/shard_reader.hpp"
#include "lapse/checkpoint/shard_writer.hpp"
#include "test/unit/io_temporary_file.hpp"

namespace lapse::test {

inline constexpr std::uint64_t kSampleCheckpoint = 0x0123456789abcdef;

// The reason of the CheckpointError that f throws; nothing when it throws none. Other exceptions pass.
template <class F>
std::optional<CheckpointError::Reason> thrown_reason(F&& f) {
  try {
    f();
  } catch (const CheckpointError& error) {
    return error.reason();
  }
  return std::nullopt;
}

// Three elements of value and one of state.
inline ShardHeader uniform_header() {
  return {.checkpoint = kSampleCheckpoint,
          .table = "factors",
          .element = CheckpointElement::float32,
          .length = 3,
          .state_elements = 1};
}
// Each value has its own length.
inline ShardHeader varying_header() {
  return {.checkpoint = kSampleCheckpoint, .table = "names", .element = CheckpointElement::int64};
}

// The elements of a key: its number, one more, two more, …
template <class T>
std::vector<std::byte> sample_content(std::uint64_t key, std::size_t elements) {
  std::vector<std::byte> bytes(elements * sizeof(T));
  for (std::size_t i = 0; i < elements; ++i) {
    const T element = static_cast<T>(static_cast<std::int64_t>(key % 1000) - 3) + static_cast<T>(i);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

inline const std::vector<std::uint64_t>& sample_keys() {
  static const std::vector<std::uint64_t> keys{0, 1, 5, 1000, std::uint64_t{1} << 63, UINT64_MAX};
  return keys;
}
// Of the value, and of value and state, of the key at this position, in a shard of varying lengths.
inline std::size_t sample_length(std::size_t position) {
  return position % 3 + 1;
}
inline std::size_t sample_elements(std::size_t position) {
  return sample_length(position) + position % 2;
}

inline ShardRecord write_uniform(const std::string& path, std::size_t block_bytes = 60) {
  ShardWriter writer(path, uniform_header(), sample_keys().size(), sample_keys().size() * 16, block_bytes);
  for (const std::uint64_t key : sample_keys()) writer.add(key, sample_content<float>(key, 4), 3);
  return writer.finish();
}

inline ShardRecord write_varying(const std::string& path, std::size_t block_bytes = 60) {
  ShardWriter writer(path, varying_header(), sample_keys().size(), 500, block_bytes);
  for (std::size_t i = 0; i < sample_keys().size(); ++i) {
    const std::uint64_t key = sample_keys()[i];
    writer.add(key, sample_content<std::int64_t>(key, sample_elements(i)), sample_length(i));
  }
  return writer.finish();
}

inline std::vector<std::byte> bytes_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Whether the shard has what write_uniform or write_varying has written, read in full. Throws
// CheckpointError.
inline bool has_samples(const std::string& path, bool uniform) {
  const ShardReader shard(path);
  if (!(shard.header() == (uniform ? uniform_header() : varying_header()))) return false;
  std::size_t position = 0;
  for (const BlockRecord& record : shard.blocks()) {
    const ShardBlock block = shard.read(record);
    for (std::size_t i = 0; i < block.size(); ++i, ++position) {
      if (position == sample_keys().size()) return false;
      const std::uint64_t key = sample_keys()[position];
      const ShardEntry entry = block.entry(i);
      const auto expected = uniform ? sample_content<float>(key, 4)
                                    : sample_content<std::int64_t>(key, sample_elements(position));
      const std::size_t value_bytes = uniform ? 12 : sample_length(position) * 8;
      if (entry.key != key || entry.value.size() != value_bytes || bytes_of(block.content(i)) != expected ||
          entry.state.size() != expected.size() - value_bytes)
        return false;
    }
  }
  return position == sample_keys().size();
}

// The manifest of a checkpoint with one shard of each kind and two blobs, without files.
inline Manifest sample_manifest(std::uint64_t step) {
  Manifest manifest;
  manifest.checkpoint = kSampleCheckpoint;
  manifest.step = step;
  manifest.ranks = 2;
  manifest.tables.push_back({.name = "factors",
                             .sparse = true,
                             .keys = 0,
                             .element = CheckpointElement::float32,
                             .length = 3,
                             .state_elements = 1,
                             .update_rule = "adagrad",
                             .update_rule_text = "adagrad(learning_rate=0.1)",
                             .initialiser = "zero",
                             .seed = UINT64_MAX,
                             .shards = {}});
  manifest.tables.push_back({.name = "names",
                             .sparse = true,
                             .keys = 0,
                             .element = CheckpointElement::int64,
                             .length = 0,
                             .state_elements = 0,
                             .update_rule = "add",
                             .update_rule_text = "add",
                             .initialiser = "zero",
                             .seed = 0,
                             .shards = {}});
  manifest.clocks = {4, -1};
  return manifest;
}

// Writes a whole checkpoint.
inline Manifest write_sample_checkpoint(const CheckpointFolder& folder, std::uint64_t step,
                                        std::uint64_t checkpoint = kSampleCheckpoint) {
  folder.prepare(step);
  Manifest manifest = sample_manifest(step);
  manifest.checkpoint = checkpoint;
  const std::string prefix = std::to_string(checkpoint);
  const auto write = [&](ShardHeader header, std::size_t table, bool uniform) {
    header.checkpoint = checkpoint;
    const std::string path = folder.file_path(step, prefix + "-t" + std::to_string(table) + ".shard");
    ShardWriter writer(path, header, sample_keys().size(), 500, 60);
    for (std::size_t i = 0; i < sample_keys().size(); ++i) {
      const std::uint64_t key = sample_keys()[i];
      if (uniform) {
        writer.add(key, sample_content<float>(key, 4), 3);
      } else {
        writer.add(key, sample_content<std::int64_t>(key, sample_elements(i)), sample_length(i));
      }
    }
    manifest.tables[table].shards.push_back(writer.finish());
  };
  write(uniform_header(), 0, true);
  write(varying_header(), 1, false);
  const std::string text = "of the application";
  const auto bytes = std::as_bytes(std::span(text));
  manifest.global = folder.write_blob(step, prefix + "-global.blob", bytes);
  manifest.per_worker.push_back(folder.write_blob(step, prefix + "-w0.blob", bytes.first(2)));
  manifest.per_worker.push_back(folder.write_blob(step, prefix + "-w1.blob", {}));
  folder.commit(manifest);
  return manifest;
}

}  // namespace lapse::test

// Small shards and checkpoints for tests of the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/checkpoint/shard_reader.hpp"
#include "lapse/checkpoint/shard_writer.hpp"
#include "test/unit/io_temporary_file.hpp"

namespace lapse::test {

inline constexpr std::uint64_t kSampleCheckpoint = 0x0123456789abcdef;

// The reason of the CheckpointError that f throws; nullopt if it throws none. Other exceptions propagate.
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

// The elements of a key: its number, and the following integers.
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
// The number of elements of the value, and of value and state, of the key at this position in a shard with
// varying lengths.
inline std::size_t sample_length(std::size_t position) {
  return position % 3 + 1;
}
inline std::size_t sample_elements(std::size_t position) {
  return sample_length(position) + position % 2;
}

// Writes the samples at the file's position.
inline ShardRecord write_samples(DurableFile& file, const ShardHeader& header, std::size_t block_bytes) {
  ShardWriter writer(file, header, block_bytes);
  for (std::size_t i = 0; i < sample_keys().size(); ++i) {
    const std::uint64_t key = sample_keys()[i];
    if (header.uniform()) {
      writer.add(key, sample_content<float>(key, 4), 3);
    } else {
      writer.add(key, sample_content<std::int64_t>(key, sample_elements(i)), sample_length(i));
    }
  }
  return writer.finish();
}
// The size of the samples.
inline ShardSize sample_size(const ShardHeader& header, std::size_t block_bytes) {
  ShardSize size(header, block_bytes);
  if (header.uniform()) {
    size.add_rows(sample_keys().size());
  } else {
    for (std::size_t i = 0; i < sample_keys().size(); ++i) size.add(sample_elements(i) * 8);
  }
  return size;
}

// Writes a file that consists of one shard.
inline ShardRecord write_shard(const std::string& path, const ShardHeader& header, std::size_t block_bytes) {
  DurableFile file(path);
  file.reserve(sample_size(header, block_bytes).bytes());
  ShardRecord record = write_samples(file, header, block_bytes);
  file.finish();
  record.file = path.substr(path.rfind('/') + 1);
  return record;
}
inline ShardRecord write_uniform(const std::string& path, std::size_t block_bytes = 60) {
  return write_shard(path, uniform_header(), block_bytes);
}
inline ShardRecord write_varying(const std::string& path, std::size_t block_bytes = 60) {
  return write_shard(path, varying_header(), block_bytes);
}

inline std::vector<std::byte> bytes_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Reads the whole shard and checks that it has the contents of write_uniform or write_varying. Throws
// CheckpointError.
inline bool has_samples(const ShardReader& shard, bool uniform) {
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

inline bool has_samples(const std::string& path, bool uniform) {
  return has_samples(ShardReader(path), uniform);
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

// Writes a complete checkpoint in one file, the last of `files`.
inline Manifest write_sample_checkpoint(const CheckpointFolder& folder, std::uint64_t step,
                                        std::uint64_t checkpoint = kSampleCheckpoint,
                                        std::uint64_t files = 1) {
  const std::string name = checkpoint_file_name(checkpoint, files - 1, files);
  folder.make_step(step, name);
  folder.remove_left_overs(step, checkpoint);
  Manifest manifest = sample_manifest(step);
  manifest.checkpoint = checkpoint;
  DurableFile file(folder.file_path(step, name), 0);
  file.reserve(3 * 4096);
  const auto write_shard = [&](ShardHeader header, std::size_t table) {
    header.checkpoint = checkpoint;
    ShardRecord record = write_samples(file, header, 60);
    record.file = name;
    manifest.tables[table].shards.push_back(record);
    file.align(4096);
  };
  write_shard(uniform_header(), 0);
  write_shard(varying_header(), 1);
  const auto write_blob = [&](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    const BlobRecord blob{
        .file = name, .offset = file.position(), .bytes = bytes.size(), .checksum = checksum(bytes)};
    file.write(bytes);
    file.align(8);
    return blob;
  };
  manifest.global = write_blob("of the application");
  manifest.per_worker.push_back(write_blob("of"));
  manifest.per_worker.push_back(write_blob(""));
  file.finish();
  folder.sync_name(step, name);
  folder.commit(manifest);
  folder.remove_left_overs(step, checkpoint);
  return manifest;
}

}  // namespace lapse::test

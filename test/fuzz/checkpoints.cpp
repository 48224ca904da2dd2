// Checkpoints with a hostile shard: read completely, by keys, and converted.
//
// The first byte selects whether the following bytes are an unchanged shard, or one whose checksums are
// corrected wherever they are.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "apps/checkpoint_tool/convert.hpp"
#include "apps/checkpoint_tool/table_rows.hpp"
#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

using Bytes = std::vector<std::byte>;

template <class Number>
Number number_at(const Bytes& bytes, std::size_t offset) {
  Number number = 0;
  if (offset + sizeof number <= bytes.size()) std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// Writes the checksum of the `covered` bytes from `begin` on to `offset`, if these bytes exist.
void repair(Bytes& bytes, std::uint64_t begin, std::uint64_t covered, std::uint64_t offset) {
  const std::uint64_t size = bytes.size();
  if (begin > size || covered > size - begin || offset > size || size - offset < 8) return;
  const std::uint64_t sum = checksum(std::span(bytes).subspan(begin, covered));
  std::memcpy(bytes.data() + offset, &sum, sizeof sum);
}

void repair(Bytes& bytes) {
  if (bytes.size() < ShardHeader::kFixedBytes + ShardTrailer::kBytes) return;
  const std::uint64_t end = bytes.size() - ShardTrailer::kBytes;
  const std::uint64_t header = number_at<std::uint32_t>(bytes, 12);
  if (header >= 8) repair(bytes, 0, header - 8, header - 8);
  const auto index = number_at<std::uint64_t>(bytes, end + 32);
  for (std::uint64_t record = index; record < end; record += BlockRecord::kBytes) {
    repair(bytes, number_at<std::uint64_t>(bytes, record + 24), number_at<std::uint64_t>(bytes, record + 32),
           record + 40);
  }
  if (index < end) repair(bytes, index, end - index, end + 40);
  repair(bytes, end, ShardTrailer::kBytes - 8, end + 56);
}

// The manifest's record of the shard.
Manifest manifest_of(const Bytes& bytes) {
  Manifest manifest;
  manifest.checkpoint = number_at<std::uint64_t>(bytes, 16);
  manifest.step = 1;
  TableRecord table;
  const std::size_t name = std::min<std::size_t>(
      number_at<std::uint32_t>(bytes, 44), bytes.size() - std::min(bytes.size(), ShardHeader::kFixedBytes));
  for (std::size_t i = 0; i < name; ++i) table.name += static_cast<char>(bytes[ShardHeader::kFixedBytes + i]);
  table.sparse = true;
  const auto element = number_at<std::uint8_t>(bytes, 40);
  if (element >= 1 && element <= 4) table.element = static_cast<CheckpointElement>(element);
  table.length = number_at<std::uint64_t>(bytes, 24);
  table.state_elements = number_at<std::uint64_t>(bytes, 32);
  const std::size_t end = bytes.size() - std::min(bytes.size(), ShardTrailer::kBytes);
  ShardRecord shard;
  shard.file = "a.shards";
  shard.bytes = bytes.size();
  shard.entries = number_at<std::uint64_t>(bytes, end + 16);
  shard.last_key = UINT64_MAX;
  shard.index_checksum = number_at<std::uint64_t>(bytes, end + 40);
  table.shards.push_back(shard);
  manifest.tables.push_back(table);
  return manifest;
}

void read(const CheckpointFolder& folder, const Manifest& manifest) {
  bool is_whole = false;
  try {
    folder.check(manifest, CheckpointFolder::Check::contents);
    is_whole = true;
  } catch (const CheckpointError&) {
    // Refused.
  }
  const TableRecord& table = manifest.tables[0];
  try {
    std::uint64_t rows = 0;
    std::uint64_t last = 0;
    for (apps::TableRows all(folder, manifest, table); !all.at_end(); all.advance()) {
      const std::uint64_t key = all.entry().key;
      check(rows++ == 0 || key > last, "keys rise");
      last = key;
      apps::TableRows one(folder, manifest, table, {.first = key, .last = key});
      check(!one.at_end() && one.entry().key == key && one.entry().value.size() == all.entry().value.size(),
            "a key is found");
      if (rows == 20) return;
    }
    check(!is_whole || rows == table.entries(), "a shard that is whole has all its keys");
  } catch (const CheckpointError&) {
    check(!is_whole, "what is whole can be read");
  }
}

void convert(const CheckpointFolder& folder, const Manifest& manifest, const std::string& target) {
  apps::ToArrays request;
  request.format = apps::ArrayFormat::safetensors;
  request.output = target;
  request.force = true;
  try {
    apps::convert_to_arrays(folder, manifest, request);
  } catch (const CheckpointError&) {
    // Damaged.
  } catch (const FileError&) {
    // Larger than a file may be.
  } catch (const UsageError&) {
    // Not an array.
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  static const FuzzFolder folder;
  FuzzInput input(data, size);
  const bool is_repaired = input.byte() % 2 == 1;
  const auto rest = std::as_bytes(input.take(input.size()));
  Bytes bytes(rest.begin(), rest.end());
  if (is_repaired) repair(bytes);
  const lapse::CheckpointFolder checkpoints(folder.path());
  const lapse::Manifest manifest = manifest_of(bytes);
  std::filesystem::create_directories(checkpoints.step_path(1));
  std::ofstream(checkpoints.file_path(1, "a.shards"), std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  read(checkpoints, manifest);
  if (bytes.size() % 4 == 0) convert(checkpoints, manifest, folder.path() + "/a.safetensors");
  return 0;
}

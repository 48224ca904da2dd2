// Damaged shards cause typed errors, never wrong values.
#include <filesystem>

#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/checkpoint_samples.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

namespace {

std::string sample_bytes(const TemporaryDirectory& folder, bool uniform) {
  const std::string path = folder / "whole.shard";
  uniform ? write_uniform(path) : write_varying(path);
  return content_of(path);
}

// Like TemporaryDirectory::write, but makes a new file: some file systems write a truncated file to the disk
// at once.
std::string write_anew(const TemporaryDirectory& folder, const std::string& name, const std::string& bytes) {
  std::filesystem::remove(folder / name);
  return folder.write(name, bytes);
}

}  // namespace

TEST_CASE("Every flipped bit of a shard is noticed") {
  const TemporaryDirectory folder;
  for (const bool uniform : {true, false}) {
    const std::string whole = sample_bytes(folder, uniform);
    REQUIRE(has_samples(folder / "whole.shard", uniform));
    std::size_t unnoticed = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      const std::string path = write_anew(folder, "flipped.shard", bytes);
      unnoticed += thrown_reason([&] { has_samples(path, uniform); }) ? 0 : 1;
    }
    CHECK(unnoticed == 0);
  }
}

// A reader of a few keys relies on the index: it does not read blocks without them.
TEST_CASE("Every flipped bit of an index is noticed when the shard is opened") {
  const TemporaryDirectory folder;
  const std::string whole = sample_bytes(folder, true);
  const std::size_t end = whole.size() - ShardTrailer::kBytes;
  const std::size_t blocks = ShardReader(folder / "whole.shard").blocks().size();
  REQUIRE(blocks > 0);
  std::size_t unnoticed = 0;
  for (std::size_t bit = 8 * (end - blocks * BlockRecord::kBytes); bit < 8 * end; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const std::string path = write_anew(folder, "flipped.shard", bytes);
    unnoticed += thrown_reason([&] { const ShardReader shard(path); }) == Reason::damaged ? 0 : 1;
  }
  CHECK(unnoticed == 0);
}

TEST_CASE("A shard that was cut off anywhere is noticed") {
  const TemporaryDirectory folder;
  for (const bool uniform : {true, false}) {
    const std::string whole = sample_bytes(folder, uniform);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const std::string path = write_anew(folder, "cut.shard", whole.substr(0, bytes));
      const auto reason = thrown_reason([&] { has_samples(path, uniform); });
      CHECK(reason == Reason::truncated);
    }
    const std::string path = folder.write("longer.shard", whole + std::string(8, '\0'));
    CHECK(thrown_reason([&] { has_samples(path, uniform); }) == Reason::truncated);
  }
}

TEST_CASE("A damaged value is an error that names file, place and keys") {
  const TemporaryDirectory folder;
  std::string bytes = sample_bytes(folder, true);
  const std::size_t first_block = uniform_header().to_bytes().size();
  bytes[first_block + 30] = static_cast<char>(bytes[first_block + 30] ^ 1);
  const std::string path = folder.write("flipped.shard", bytes);
  const std::string text = thrown_text<CheckpointError>([&] { has_samples(path, true); });
  CHECK(contains(text, path + ": the checksum of the block at byte 64 (keys 0 to 5) differs"));
  CHECK(thrown_reason([&] { has_samples(path, true); }) == Reason::damaged);
}

TEST_CASE("A shard of another checkpoint, or another one under this name, is foreign") {
  const TemporaryDirectory folder;
  const std::string path = folder / "a.shard";
  const ShardRecord record = write_uniform(path);
  CHECK(thrown_reason([&] { ShardReader(path, record, kSampleCheckpoint); }) == std::nullopt);
  CHECK(thrown_reason([&] { ShardReader(path, record, 1); }) == Reason::foreign);
  // A file of equal length with other blocks.
  DurableFile file(path);
  ShardWriter writer(file, uniform_header(), 60);
  for (const std::uint64_t key : {0, 1, 2, 3, 4, 5}) writer.add(key, sample_content<float>(key, 4), 3);
  CHECK(writer.finish().bytes == record.bytes);
  file.finish();
  CHECK(thrown_reason([&] { ShardReader(path, record, kSampleCheckpoint); }) == Reason::foreign);
  folder.write("a.shard", std::string(500, 'x'));
  CHECK(thrown_reason([&] { ShardReader(path, record, kSampleCheckpoint); }) == Reason::foreign);
}

TEST_CASE("A shard of a later version is refused as such") {
  const TemporaryDirectory folder;
  std::string bytes = sample_bytes(folder, true);
  bytes[8] = 2;
  const std::string path = folder.write("later.shard", bytes);
  CHECK(thrown_reason([&] { ShardReader{path}; }) == Reason::newer_version);
  CHECK(contains(thrown_text<CheckpointError>([&] { ShardReader{path}; }), "has version 2"));
}

TEST_CASE("Shards that are missing or no files") {
  const TemporaryDirectory folder;
  CHECK(thrown_reason([&] { ShardReader(folder / "none.shard"); }) == Reason::missing);
  std::filesystem::create_directory(folder / "folder.shard");
  CHECK(thrown_reason([&] { ShardReader(folder / "folder.shard"); }) == Reason::not_readable);
}

// Shards are read as they were written.
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/checkpoint_samples.hpp"

using namespace lapse;
using namespace lapse::test;

TEST_CASE("A shard has what was written, in one block or in many") {
  const TemporaryDirectory folder;
  const std::string path = folder / "a.shard";
  for (const std::size_t block_bytes : {1, 60, 200, 1 << 20}) {
    write_uniform(path, block_bytes);
    CHECK(has_samples(path, true));
    CHECK(ShardReader(path).blocks().size() == (block_bytes == 1 ? 6 : block_bytes == 60 ? 2 : 1));
    write_varying(path, block_bytes);
    CHECK(has_samples(path, false));
  }
}

TEST_CASE("The record of a shard describes its file") {
  const TemporaryDirectory folder;
  const std::string path = folder / "a.shard";
  const ShardRecord record = write_uniform(path);
  CHECK(record.file == "a.shard");
  CHECK(record.bytes == content_of(path).size());
  CHECK(record.entries == 6);
  CHECK(record.first_key == 0);
  CHECK(record.last_key == UINT64_MAX);
  CHECK(ShardReader(path, record, kSampleCheckpoint).entries() == 6);
}

TEST_CASE("A shard without entries is whole") {
  const TemporaryDirectory folder;
  const std::string path = folder / "a.shard";
  ShardWriter writer(path, uniform_header(), 0, 0);
  const ShardRecord record = writer.finish();
  const ShardReader shard(path, record, kSampleCheckpoint);
  CHECK(shard.blocks().empty());
  CHECK(shard.entries() == 0);
}

TEST_CASE("The index names the keys of each block, so that few blocks are read for few keys") {
  const TemporaryDirectory folder;
  const std::string path = folder / "a.shard";
  ShardHeader header = uniform_header();
  ShardWriter writer(path, header, 1000, 16000, 240);
  for (std::uint64_t key = 0; key < 1000; ++key) writer.add(3 * key, sample_content<float>(key, 4), 3);
  writer.finish();
  const ShardReader shard(path);
  REQUIRE(shard.blocks().size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(shard.blocks()[i].first_key == 30 * i);
    CHECK(shard.blocks()[i].last_key == 30 * i + 27);
    CHECK(shard.blocks()[i].entries == 10);
  }
}

TEST_CASE("Keys that do not rise and contents of a wrong size are refused") {
  const TemporaryDirectory folder;
  ShardWriter writer(folder / "a.shard", uniform_header(), 3, 48, 1);
  writer.add(5, sample_content<float>(5, 4), 3);
  CHECK(contains(thrown_text<UsageError>([&] { writer.add(5, sample_content<float>(5, 4), 3); }),
                 "key 5 behind key 5"));
  CHECK(contains(thrown_text<UsageError>([&] { writer.add(6, sample_content<float>(5, 3), 3); }),
                 "12 bytes of value and state, expected 16"));
}

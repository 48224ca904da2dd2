// Shards are read like they were written.
#include <limits>

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

TEST_CASE("Numbers that are not finite are counted, at every position of values and states") {
  const TemporaryDirectory folder;
  const auto count = [&]<class T>(CheckpointElement element, const std::vector<T>& row, bool at_once) {
    ShardHeader header = uniform_header();
    header.element = element;
    header.length = row.size() - 1;
    DurableFile file(folder / "shard");
    ShardWriter writer(file, header, 200);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(row));
    at_once ? writer.add_rows(7, 1, bytes.data(), bytes.size()) : writer.add(7, bytes, row.size() - 1);
    return writer.finish().not_finite;
  };
  const auto check = [&]<class T>(CheckpointElement element, T /*of the type*/) {
    using Limits = std::numeric_limits<T>;
    for (const std::size_t length : {2, 65, 200, 5000}) {  // the longer ones are not copied
      std::vector<T> row(length, Limits::max());
      row[1] = Limits::denorm_min();
      CHECK(count(element, row, false) == 0);
      row.front() = -Limits::infinity();
      row.back() = Limits::quiet_NaN();
      row[length / 2] = Limits::infinity();
      for (const bool at_once : {false, true}) CHECK(count(element, row, at_once) == (length == 2 ? 2 : 3));
    }
  };
  check(CheckpointElement::float32, 0.0F);
  check(CheckpointElement::float64, 0.0);
  // Their bits would be those of non-finite numbers.
  CHECK(count(CheckpointElement::int32, std::vector<std::int32_t>{0x7f800000, -1}, false) == 0);
  CHECK(count(CheckpointElement::int64, std::vector<std::int64_t>{-1, -1}, false) == 0);
}

TEST_CASE(
    "Rows are written as entries, whatever is between them, and shards have the bytes that were expected") {
  const TemporaryDirectory folder;
  for (const std::size_t elements : {4, 5000}) {  // the longer ones are not copied
    ShardHeader header = uniform_header();
    header.length = elements - 1;
    const std::size_t row_bytes = elements * sizeof(float);
    for (const std::size_t gap : {0, 8}) {
      for (const std::size_t block_bytes : {1, 100, 50000, 1 << 20}) {
        INFO(elements << " elements, gap " << gap << ", blocks of " << block_bytes);
        std::vector<std::byte> rows;
        for (std::uint64_t key = 0; key < 30; ++key) {
          const auto row = sample_content<float>(key, elements);
          rows.insert(rows.end(), row.begin(), row.end());
          rows.resize(rows.size() + gap, std::byte(255));
        }
        const auto written = [&](const std::string& name, bool at_once) {
          DurableFile file(folder / name);
          ShardWriter writer(file, header, block_bytes);
          for (std::uint64_t key = 0; key < 30 && !at_once; ++key)
            writer.add(key, std::span(rows).subspan(key * (row_bytes + gap), row_bytes), elements - 1);
          if (at_once) {
            writer.add_rows(0, 13, rows.data(), row_bytes + gap);
            writer.add_rows(13, 17, rows.data() + 13 * (row_bytes + gap), row_bytes + gap);
          }
          const ShardRecord record = writer.finish();
          file.finish();
          ShardSize size(header, block_bytes);
          size.add_rows(30);
          CHECK(size.bytes() == record.bytes);
          return content_of(folder / name);
        };
        const bool same = written("single", false) == written("rows", true);
        CHECK(same);
      }
    }
  }
  for (const std::size_t block_bytes : {1, 60, 200, 1 << 20}) {
    CHECK(write_uniform(folder / "a", block_bytes).bytes ==
          sample_size(uniform_header(), block_bytes).bytes());
    CHECK(write_varying(folder / "a", block_bytes).bytes ==
          sample_size(varying_header(), block_bytes).bytes());
  }
}

TEST_CASE("Several shards are in one file, written in any order") {
  const TemporaryDirectory folder;
  const std::string path = folder / "a.shards";
  DurableFile second(path, 8192);
  const ShardRecord varying = write_samples(second, varying_header(), 60);
  second.finish();
  DurableFile first(path, 4096);
  first.reserve(4096);
  const ShardRecord uniform = write_samples(first, uniform_header(), 60);
  first.finish();
  CHECK(uniform.offset == 4096);
  CHECK(varying.offset == 8192);
  CHECK(has_samples(ShardReader(path, uniform, kSampleCheckpoint), true));
  CHECK(has_samples(ShardReader(path, varying, kSampleCheckpoint), false));
  ShardRecord wrong = uniform;
  wrong.offset = 4088;
  CHECK(thrown_reason([&] { ShardReader(path, wrong, kSampleCheckpoint); }) ==
        CheckpointError::Reason::foreign);
  for (const std::uint64_t offset : {std::uint64_t{12288}, std::uint64_t{1} << 40, UINT64_MAX}) {
    wrong.offset = offset;
    CHECK(thrown_reason([&] { ShardReader(path, wrong, kSampleCheckpoint); }) ==
          CheckpointError::Reason::truncated);
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
  DurableFile file(path);
  const ShardRecord record = ShardWriter(file, uniform_header()).finish();
  file.finish();
  CHECK(record.bytes == ShardSize(uniform_header()).bytes());
  const ShardReader shard(path, record, kSampleCheckpoint);
  CHECK(shard.blocks().empty());
  CHECK(shard.entries() == 0);
}

TEST_CASE("The index names the keys of each block, so that few blocks are read for few keys") {
  const TemporaryDirectory folder;
  const std::string path = folder / "a.shard";
  DurableFile file(path);
  ShardWriter writer(file, uniform_header(), 240);
  for (std::uint64_t key = 0; key < 1000; ++key) writer.add(3 * key, sample_content<float>(key, 4), 3);
  writer.finish();
  file.finish();
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
  DurableFile file(folder / "a.shard");
  ShardWriter writer(file, uniform_header(), 1);
  writer.add(5, sample_content<float>(5, 4), 3);
  CHECK(contains(thrown_text<UsageError>([&] { writer.add(5, sample_content<float>(5, 4), 3); }),
                 "key 5 behind key 5"));
  const auto row = sample_content<float>(5, 4);
  CHECK(contains(thrown_text<UsageError>([&] { writer.add_rows(4, 1, row.data(), 16); }),
                 "key 4 behind key 5"));
  CHECK(contains(thrown_text<UsageError>([&] { writer.add(6, sample_content<float>(5, 3), 3); }),
                 "12 bytes of value and state, expected 16"));
}

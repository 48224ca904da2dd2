// A checkpoint with one changed byte is skipped for the previous one; a load by its step throws the right
// error.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/checkpoint_samples.hpp"

using namespace lapse;
using namespace lapse::test;

using Check = CheckpointFolder::Check;

namespace {

// A whole checkpoint of step 1, and one of step 2 whose files are changed.
class TwoCheckpoints {
 public:
  TwoCheckpoints() {
    write_sample_checkpoint(folder_, 1, 1);
    newer_ = write_sample_checkpoint(folder_, 2, kSampleCheckpoint);
  }

  const CheckpointFolder& folder() const { return folder_; }
  const Manifest& newer() const { return newer_; }
  std::string manifest_file() const { return folder_.file_path(2, std::string(Manifest::kFile)); }
  std::string shard_file() const { return folder_.file_path(2, newer_.tables[0].shards[0].file); }

  // The reason why step 2 cannot be loaded by its step; a description if the newest checkpoint is not step 1.
  std::string outcome() const {
    try {
      const CheckpointFolder::Newest newest = folder_.newest(Check::structure);
      if (!newest.manifest) return "no checkpoint is found";
      if (newest.manifest->step != 1 || newest.problems.size() != 1) return "not passed over";
    } catch (const CheckpointError& error) {
      return error.what();
    }
    const auto reason = thrown_reason([&] { folder_.check(folder_.manifest(2), Check::structure); });
    return reason ? std::string(reason_name(*reason)) : "not refused";
  }

 private:
  TemporaryDirectory temporary_;
  CheckpointFolder folder_{temporary_ / "checkpoints"};
  Manifest newer_;
};

// Returns the outcomes other than "damaged", when one bit of one of these bytes of the file is flipped, or
// all bits.
std::set<std::string> other_outcomes(const TwoCheckpoints& checkpoints, const std::string& file,
                                     std::uint64_t begin, std::uint64_t end) {
  const std::string whole = content_of(file);
  std::set<std::string> found;
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::uint64_t at, char byte) {
    out.seekp(static_cast<std::streamoff>(at));
    out.put(byte).flush();
  };
  for (std::uint64_t at = begin; at < end; ++at) {
    for (const unsigned mask : {1U << at % 8, 0xffU}) {
      put(at, static_cast<char>(whole[at] ^ static_cast<char>(mask)));
      const std::string outcome = checkpoints.outcome();
      if (outcome != "damaged") found.insert(fmt::format("byte {}: {}", at - begin, outcome));
    }
    put(at, whole[at]);
  }
  return found;
}

const std::set<std::string> kNone;

}  // namespace

TEST_CASE("Each changed byte of a shard's header, index and trailer is damage") {
  const TwoCheckpoints checkpoints;
  for (const TableRecord& table : checkpoints.newer().tables) {
    const ShardRecord& shard = table.shards[0];
    const ShardReader reader = checkpoints.folder().open(checkpoints.newer(), shard);
    const std::uint64_t header = reader.header().to_bytes().size();
    const std::uint64_t index = reader.blocks().back().offset + reader.blocks().back().bytes;
    INFO(table.name);
    CHECK(other_outcomes(checkpoints, checkpoints.shard_file(), shard.offset, shard.offset + header) ==
          kNone);
    CHECK(other_outcomes(checkpoints, checkpoints.shard_file(), shard.offset + index,
                         shard.offset + shard.bytes) == kNone);
  }
  const BlobRecord& global = *checkpoints.newer().global;
  CHECK(other_outcomes(checkpoints, checkpoints.shard_file(), global.offset, global.offset + global.bytes) ==
        kNone);
}

TEST_CASE("Each changed byte of a manifest is damage") {
  const TwoCheckpoints checkpoints;
  CHECK(other_outcomes(checkpoints, checkpoints.manifest_file(), 0,
                       std::filesystem::file_size(checkpoints.manifest_file())) == kNone);
}

TEST_CASE("A changed version of a shard names the shard's place and both versions") {
  const TwoCheckpoints checkpoints;
  const std::uint64_t at = checkpoints.newer().tables[1].shards[0].offset;
  std::string bytes = content_of(checkpoints.shard_file());
  bytes[at + 9] = 1;
  std::ofstream(checkpoints.shard_file(), std::ios::binary) << bytes;
  const std::string text = thrown_text<CheckpointError>(
      [&] { checkpoints.folder().check(checkpoints.newer(), Check::structure); });
  CHECK(contains(
      text, "has a damaged header at byte 4096: version 257, where the manifest has a version of at most 1"));
  // A file of another checkpoint is reported as foreign, whatever its version.
  bytes[at + 16] ^= 1;
  std::ofstream(checkpoints.shard_file(), std::ios::binary) << bytes;
  CHECK(checkpoints.outcome() == "foreign");
}

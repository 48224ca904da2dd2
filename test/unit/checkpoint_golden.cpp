// A checkpoint of version 1 in the source tree: it stays readable, and version 1 is still written like this.
#include "test/support/catch.hpp"
#include "test/unit/checkpoint_samples.hpp"

using namespace lapse;
using namespace lapse::test;

TEST_CASE("The checkpoint in the tree is whole and has the values that were written") {
  const CheckpointFolder folder(std::string(LAPSE_GOLDEN_CHECKPOINTS) + "/version-1");
  REQUIRE(folder.steps() == std::vector<std::uint64_t>{3});
  const Manifest manifest = folder.manifest(3);
  folder.check(manifest, CheckpointFolder::Check::contents);
  REQUIRE(manifest.tables.size() == 2);
  CHECK(has_samples(folder.open(manifest, manifest.tables[0].shards.at(0)), true));
  CHECK(has_samples(folder.open(manifest, manifest.tables[1].shards.at(0)), false));
  CHECK(manifest.clocks == std::vector<std::int64_t>{4, -1});
  CHECK(manifest.per_worker.size() == 2);
}

TEST_CASE("Version 1 is written byte by byte as the checkpoint in the tree") {
  const CheckpointFolder golden(std::string(LAPSE_GOLDEN_CHECKPOINTS) + "/version-1");
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  const Manifest manifest = write_sample_checkpoint(folder, 3);
  std::vector<std::string> files = manifest.files();
  files.emplace_back(Manifest::kFile);
  for (const std::string& file : files) {
    INFO(file);
    const bool same = content_of(folder.file_path(3, file)) == content_of(golden.file_path(3, file));
    CHECK(same);
  }
}

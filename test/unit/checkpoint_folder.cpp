// Checkpoints in a folder: which exist, which are complete, what is left of others.
#include <filesystem>

#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/checkpoint_samples.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;
using Check = CheckpointFolder::Check;

namespace {

void flip_byte(const std::string& path, std::size_t at) {
  std::string bytes = content_of(path);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
}

std::size_t files_in(const std::string& path) {
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path)) ++files;
  return files;
}

}  // namespace

TEST_CASE("A checkpoint is found and read again") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "checkpoints");
  CHECK(folder.steps().empty());
  CHECK(!folder.newest(Check::contents).manifest);
  const Manifest written = write_sample_checkpoint(folder, 12);
  CHECK(folder.steps() == std::vector<std::uint64_t>{12});
  const Manifest read = folder.manifest(12);
  CHECK(read == written);
  folder.check(read, Check::contents);
  CHECK(has_samples(folder.open(read, read.tables[0].shards[0]), true));
  CHECK(has_samples(folder.open(read, read.tables[1].shards[0]), false));
  CHECK(folder.read_blob(read, *read.global).size() == 18);
  CHECK(folder.read_blob(read, read.per_worker[0]).size() == 2);
  CHECK(folder.read_blob(read, read.per_worker[1]).empty());
  CHECK(thrown_reason([&] { folder.manifest(13); }) == Reason::missing);
}

TEST_CASE("Many files are in folders of their own") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  CHECK(checkpoint_file_name(1, 255, 256) == "0000000000000001-255.shards");
  CHECK(checkpoint_file_name(1, 255, 257) == "000/0000000000000001-255.shards");
  CHECK(checkpoint_file_name(1, 256, 257) == "001/0000000000000001-256.shards");
  const Manifest manifest = write_sample_checkpoint(folder, 5, 1, 600);
  CHECK(manifest.files() == std::vector<std::string>{"002/0000000000000001-599.shards"});
  CHECK(folder.manifest(5) == manifest);
  folder.check(manifest, Check::contents);
  // A save with a different number of files replaces them.
  write_sample_checkpoint(folder, 5, 2, 300);
  folder.check(folder.manifest(5), Check::contents);
  CHECK(!std::filesystem::exists(temporary / "step-5/002/0000000000000001-599.shards"));
  temporary.write("step-5/001/left.shards", "");
  folder.remove_left_overs(6, 3);
  CHECK(files_in(temporary / "step-5/001") == 1);
  folder.discard(5, {"001/0000000000000002-299.shards"});
  CHECK(files_in(temporary / "step-5") == 1);
  folder.remove(5);
  CHECK(!std::filesystem::exists(temporary / "step-5"));
}

TEST_CASE("Steps are in order of their numbers") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  for (const std::uint64_t step : {100, 9, 20}) write_sample_checkpoint(folder, step);
  std::filesystem::create_directory(temporary / "step-050");
  std::filesystem::create_directory(temporary / "step-x");
  std::filesystem::create_directory(temporary / "step-60");
  CHECK(folder.steps() == std::vector<std::uint64_t>{9, 20, 100});
  CHECK(folder.newest(Check::contents).manifest->step == 100);
}

TEST_CASE("Where the newest checkpoint is broken, the next older one is offered with the reason") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  const Manifest old = write_sample_checkpoint(folder, 1);
  const Manifest manifest = write_sample_checkpoint(folder, 2, 99);
  const std::string shard = folder.file_path(2, manifest.tables[1].shards[0].file);
  SECTION("a value") {
    flip_byte(shard, 4096 + 100);
    CHECK(folder.newest(Check::structure).manifest->step == 2);
  }
  SECTION("a shard is missing") {
    std::filesystem::remove(shard);
  }
  SECTION("a file was cut off") {
    std::filesystem::resize_file(shard, 4096 + 100);
  }
  SECTION("a file of another checkpoint") {
    std::filesystem::copy_file(folder.file_path(1, old.tables[1].shards[0].file), shard,
                               std::filesystem::copy_options::overwrite_existing);
  }
  SECTION("the shard of another table") {
    const std::string bytes = content_of(shard);
    std::ofstream(shard, std::ios::binary)
        << bytes.substr(0, 4096) << bytes.substr(0, 4096) << bytes.substr(8192);
  }
  SECTION("a blob") {
    flip_byte(shard, manifest.global->offset + 3);
  }
  SECTION("a blob was cut off") {
    std::filesystem::resize_file(shard, manifest.per_worker[0].offset + 1);
  }
  SECTION("the manifest") {
    flip_byte(folder.file_path(2, "manifest.json"), 200);
  }
  SECTION("the manifest of another step") {
    std::filesystem::copy_file(folder.file_path(1, "manifest.json"), folder.file_path(2, "manifest.json"),
                               std::filesystem::copy_options::overwrite_existing);
  }
  const CheckpointFolder::Newest newest = folder.newest(Check::contents);
  REQUIRE(newest.manifest);
  CHECK(newest.manifest->step == 1);
  REQUIRE(newest.problems.size() == 1);
  CHECK(contains(newest.problems[0], "/step-2/"));
}

TEST_CASE("A checkpoint with numbers that are not finite is the newest only where there is no other") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  const auto write = [&](std::uint64_t step, std::uint64_t not_finite) {
    Manifest manifest = write_sample_checkpoint(folder, step, step);
    manifest.tables[0].shards[0].not_finite = not_finite;
    folder.commit(manifest);
    CHECK(folder.manifest(step) == manifest);
    CHECK(folder.manifest(step).not_finite() == not_finite);
  };
  using Prefer = CheckpointFolder::Prefer;
  write(2, 7);
  write(3, 1);
  CheckpointFolder::Newest newest = folder.newest(Check::contents);
  CHECK(newest.manifest->step == 3);
  CHECK(newest.problems.empty());
  write(1, 0);
  newest = folder.newest(Check::contents);
  CHECK(newest.manifest->step == 1);
  REQUIRE(newest.problems.size() == 2);
  CHECK(
      contains(newest.problems[0], "/step-3/manifest.json: table 'factors' has 1 number that is not finite"));
  CHECK(contains(newest.problems[1],
                 "/step-2/manifest.json: table 'factors' has 7 numbers that are not finite"));
  newest = folder.newest(Check::contents, {}, Prefer::newest);
  CHECK(newest.manifest->step == 3);
  CHECK(newest.problems.empty());
  // A damaged checkpoint does not count as healthy.
  std::filesystem::remove(folder.file_path(1, folder.manifest(1).files()[0]));
  newest = folder.newest(Check::contents);
  CHECK(newest.manifest->step == 3);
  CHECK(newest.problems.empty());
  const std::vector<CheckpointFolder::Saved> saved = folder.saved();
  REQUIRE(saved.size() == 3);
  CHECK((saved[0].healthy && !saved[1].healthy && !saved[2].healthy));
}

TEST_CASE("One that may be healthy and cannot be read now is not passed over for an older one") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  write_sample_checkpoint(folder, 1);
  write_sample_checkpoint(folder, 2);
  Manifest manifest = write_sample_checkpoint(folder, 3);
  manifest.tables[0].shards[0].not_finite = 1;
  folder.commit(manifest);
  std::filesystem::remove(temporary / "step-2/manifest.json");
  std::filesystem::create_directory(temporary / "step-2/manifest.json");
  CHECK(thrown_reason([&] { folder.newest(Check::contents); }) == Reason::not_readable);
  CHECK(folder.newest(Check::contents, std::vector<std::uint64_t>{2}).manifest->step == 1);
}

TEST_CASE("What an attempt has left is removed by the next one, and nothing else") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  write_sample_checkpoint(folder, 1);
  const std::size_t whole = files_in(temporary / "step-1");
  temporary.write("step-1/left.shards", "");
  temporary.write("step-1/notes.txt", "");
  std::filesystem::create_directory(temporary / "step-2");
  temporary.write("step-2/left.shards", "");
  std::filesystem::create_directory(temporary / "step-2/001");
  temporary.write("step-2/001/left.shards", "");
  temporary.write("step-2/manifest.json.tmp", "");
  std::filesystem::create_directory(temporary / "step-3");
  temporary.write("step-3/left.shards", "");
  temporary.write("step-3/manifest.json", "broken");
  folder.remove_left_overs(4, kSampleCheckpoint);
  CHECK(files_in(temporary / "step-1") == whole + 1);
  CHECK(!std::filesystem::exists(temporary / "step-2"));
  CHECK(files_in(temporary / "step-3") == 2);
  folder.check(folder.manifest(1), Check::contents);
}

TEST_CASE("A checkpoint replaces one of its step when it is whole, not before") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  const Manifest first = write_sample_checkpoint(folder, 5, 1);
  const std::size_t files = files_in(temporary / "step-5");
  folder.remove_left_overs(5, 3);
  CHECK(folder.manifest(5) == first);
  folder.check(folder.manifest(5), Check::contents);
  // The manifest is replaced, never overwritten: a reader that has it open reads the earlier one.
  const std::string other_name = temporary / "manifest";
  std::filesystem::create_hard_link(temporary / "step-5/manifest.json", other_name);
  const Manifest second = write_sample_checkpoint(folder, 5, 2);
  CHECK(folder.manifest(5) == second);
  folder.check(folder.manifest(5), Check::contents);
  CHECK(files_in(temporary / "step-5") == files);
  CHECK(content_of(other_name) == first.to_text());
}

TEST_CASE("The checkpoint that was saved last, and whether its files are there") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  CHECK(folder.latest().order == 0);
  for (const std::uint64_t step : {7, 5, 6}) {
    Manifest manifest = write_sample_checkpoint(folder, step);
    manifest.run = 0xabc;
    manifest.order = 100 - step;
    folder.commit(manifest);
    CHECK(folder.manifest(step) == manifest);
  }
  std::filesystem::create_directory(temporary / "step-9");
  temporary.write("step-9/manifest.json", "broken");
  CHECK(folder.latest() == SavedAt{.order = 95, .step = 5});
  const Manifest manifest = folder.manifest(5);
  folder.require_files(manifest);
  const std::string file = folder.file_path(5, manifest.files()[0]);
  std::filesystem::resize_file(file, manifest.per_worker[0].offset + 1);
  CHECK(thrown_reason([&] { folder.require_files(manifest); }) == Reason::truncated);
  std::filesystem::remove(file);
  CHECK(thrown_reason([&] { folder.require_files(manifest); }) == Reason::missing);
}

TEST_CASE("The newest checkpoint is the one that was saved last, whatever its step") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  for (const std::uint64_t step : {3, 4, 5, 6}) write_sample_checkpoint(folder, step, step);
  for (const auto& [step, order] : {std::pair(3, 10), std::pair(4, 40), std::pair(5, 20)}) {
    Manifest manifest = folder.manifest(static_cast<std::uint64_t>(step));
    manifest.order = static_cast<std::uint64_t>(order);
    folder.commit(manifest);
  }
  const auto steps = [&] {
    std::vector<std::uint64_t> all;
    for (const CheckpointFolder::Saved& one : folder.saved()) all.push_back(one.at.step);
    return all;
  };
  CHECK(steps() == std::vector<std::uint64_t>{6, 3, 5, 4});  // the order of 6 is unknown
  CHECK(folder.newest(Check::contents).manifest->step == 4);
  const std::vector<std::uint64_t> failed{4, 3};
  CHECK(folder.newest(Check::contents, failed).manifest->step == 5);
  CHECK(folder.newest(Check::contents, failed).problems.empty());
  std::filesystem::remove(folder.file_path(4, folder.manifest(4).files()[0]));
  CHECK(folder.newest(Check::structure).manifest->step == 5);
  CHECK(folder.newest(Check::structure).problems.size() == 1);

  // Whether these are newer is unknown: they are listed after smaller steps, and skipping them is always
  // reported.
  for (const std::string step : {"step-2", "step-7"}) {
    std::filesystem::create_directory(temporary / step);
    temporary.write(step + "/manifest.json", "broken");
  }
  CHECK(steps() == std::vector<std::uint64_t>{2, 6, 3, 5, 4, 7});
  const CheckpointFolder::Newest newest = folder.newest(Check::structure);
  CHECK(newest.manifest->step == 5);
  REQUIRE(newest.problems.size() == 3);
  CHECK(contains(newest.problems[0], "/step-7/"));
  CHECK(contains(newest.problems[2], "/step-2/"));
}

TEST_CASE("Checkpoints are removed whole") {
  const TemporaryDirectory temporary;
  const CheckpointFolder folder(temporary / "");
  write_sample_checkpoint(folder, 5);
  write_sample_checkpoint(folder, 6);
  folder.remove(5);
  CHECK(folder.steps() == std::vector<std::uint64_t>{6});
  CHECK(!std::filesystem::exists(temporary / "step-5"));
  CHECK(thrown_reason([&] { folder.remove(5); }) == Reason::missing);
}

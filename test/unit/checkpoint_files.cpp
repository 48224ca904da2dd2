// Files of checkpoints, and what the operating system refuses.
#include <unistd.h>

#include <array>
#include <filesystem>

#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "test/support/catch.hpp"
#include "test/support/file_limit.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/checkpoint_samples.hpp"

using namespace lapse;
using namespace lapse::test;

using Reason = CheckpointError::Reason;

TEST_CASE("What is reserved and not written is cut off") {
  const TemporaryDirectory folder;
  DurableFile file(folder / "a");
  file.reserve(1000);
  CHECK(std::filesystem::file_size(folder / "a") == 1000);
  file.write(sample_content<float>(1, 10));
  CHECK(file.written() == 40);
  file.finish();
  CHECK(std::filesystem::file_size(folder / "a") == 40);
}

TEST_CASE("A full disk is found before anything is written") {
  const TemporaryDirectory folder;
  const FileLimit limit(100);
  CHECK(thrown_reason([&] { write_uniform(folder / "a.shard"); }) == Reason::no_space);
  CHECK(content_of(folder / "a.shard").empty());
  CHECK(contains(thrown_text<CheckpointError>([&] { write_uniform(folder / "a.shard"); }),
                 "a.shard: 368 bytes cannot be reserved"));
  // Where the disk fills up later.
  DurableFile file(folder / "b");
  CHECK(thrown_reason([&] { file.write(sample_content<float>(1, 100)); }) == Reason::no_space);
}

TEST_CASE("Folders that cannot be made or written to") {
  const TemporaryDirectory folder;
  CHECK(thrown_reason([&] { make_folder("/proc/lapse/a"); }) == Reason::not_writable);
  CHECK(thrown_reason([&] { DurableFile("/proc/lapse-file"); }) == Reason::not_writable);
  folder.write("file", "");
  CHECK(thrown_reason([&] { make_folder(folder / "file"); }) == Reason::not_writable);
  CHECK(thrown_reason([&] { make_folder(folder / "file/below"); }) == Reason::not_writable);
  if (::geteuid() != 0) {
    std::filesystem::create_directory(folder / "read-only");
    std::filesystem::permissions(folder / "read-only",
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    CHECK(thrown_reason([&] { make_folder(folder / "read-only/a"); }) == Reason::not_writable);
  }
}

TEST_CASE("Folders are made with those above them") {
  const TemporaryDirectory folder;
  make_folder(folder / "a/b/c");
  make_folder(folder / "a/b/c/");
  CHECK(std::filesystem::is_directory(folder / "a/b/c"));
}

TEST_CASE("One at a time has the lock of a folder") {
  const TemporaryDirectory folder;
  const std::string path = folder / "";
  {
    const FolderLock first(path);
    CHECK(thrown_reason([&] { FolderLock{path}; }) == Reason::locked);
  }
  CHECK(thrown_reason([&] { FolderLock{path}; }) == std::nullopt);
  CHECK(thrown_reason([&] { FolderLock{folder / "none"}; }) == Reason::not_writable);
}

TEST_CASE("Reads behind the end of a file") {
  const TemporaryDirectory folder;
  const ReadableFile file(folder.write("a", "0123456789"));
  CHECK(file.bytes() == 10);
  CHECK(file.read(2, 8).size() == 8);
  CHECK(thrown_reason([&] { file.read(2, 9); }) == Reason::truncated);
  CHECK(thrown_reason([&] { file.read(11, 0); }) == Reason::truncated);
  CHECK(thrown_reason([&] { file.read(UINT64_MAX, 2); }) == Reason::truncated);
  CHECK(thrown_reason([&] { file.read(2, UINT64_MAX); }) == Reason::truncated);
  std::vector<std::byte> bytes(4);
  CHECK(thrown_reason([&] { file.read(8, std::span<std::byte>(bytes)); }) == Reason::truncated);
}

TEST_CASE("The checksum of pieces is that of all their bytes, and that of the format") {
  const std::vector<std::byte> bytes = sample_content<std::int64_t>(5, 1000);
  CHECK(checksum(bytes) == 0x1db38cd7f92df0db);  // By XXH3_64bits.
  CHECK(checksum(std::span(bytes).first(100)) == 0xe40708f634d1186c);
  for (const std::size_t middle : {0, 1, 239, 241, 4000, 8000}) {
    const std::array<std::span<const std::byte>, 3> pieces{
        std::span(bytes).first(middle), {}, std::span(bytes).subspan(middle)};
    CHECK(checksum(pieces) == checksum(bytes));
  }
}

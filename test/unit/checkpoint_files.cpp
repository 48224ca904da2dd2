// Files of checkpoints, and errors of the operating system.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
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

namespace {

constexpr int kNoFilter = 77;

// Runs f in a process without flock, and returns its exit status.
template <class F>
int status_without_flock(F&& f) {
  const pid_t child = ::fork();
  if (child != 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::array<sock_filter, 4> filter{{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                     {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_flock},
                                     {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
                                     {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  const sock_fprog program{filter.size(), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(kNoFilter);
  int status = 2;
  try {
    status = f();
  } catch (const std::exception&) {
    status = 3;
  }
  ::_exit(status);
}

}  // namespace

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
  // The disk fills up later.
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

TEST_CASE("A folder keeps the number that its first lock has given to it") {
  const TemporaryDirectory folder;
  const std::string path = folder / "";
  CHECK(folder_number(path) == std::nullopt);
  const std::uint64_t number = FolderLock(path).number();
  CHECK(number != 0);
  CHECK(folder_number(path) == number);
  CHECK(FolderLock(path).number() == number);
  CHECK(FolderLock(path).warning().empty());
  // By a job that was killed before it had written the number, and by an earlier version.
  for (const std::string content : {"0123", "", "no number at all, but long\n"}) {
    folder.write("lock", content);
    CHECK(folder_number(path) == std::nullopt);
    const std::uint64_t other = FolderLock(path).number();
    CHECK(other != number);
    CHECK(folder_number(path) == other);
    CHECK(std::filesystem::file_size(folder / "lock") == 17);
  }
}

TEST_CASE("A file system without locks is a warning") {
  const TemporaryDirectory folder;
  const std::string path = folder / "";
  const int status = status_without_flock([&] {
    const FolderLock first(path);
    const FolderLock second(path);
    const bool warns = contains(second.warning(), "lock cannot be locked (Function not implemented)");
    return warns && first.number() == second.number() ? 0 : 1;
  });
  if (status == kNoFilter) {
    WARN("SKIPPED: the system allows no filter of calls");
  } else {
    CHECK(status == 0);
  }
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
  CHECK(checksum(bytes) == 0x1db38cd7f92df0db);  // by XXH3_64bits
  CHECK(checksum(std::span(bytes).first(100)) == 0xe40708f634d1186c);
  for (const std::size_t middle : {0, 1, 239, 241, 4000, 8000}) {
    const std::array<std::span<const std::byte>, 3> pieces{
        std::span(bytes).first(middle), {}, std::span(bytes).subspan(middle)};
    CHECK(checksum(pieces) == checksum(bytes));
  }
}

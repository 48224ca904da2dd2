// Inputs from the operating system, and waiting for their bytes.
#include "lapse/io/files/file_descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_standard_input.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using namespace lapse::io;
using namespace std::chrono_literals;
using lapse::test::StandardInput;
using lapse::test::TemporaryDirectory;

namespace {

std::string all_bytes(FileDescriptor& file) {
  std::string content;
  std::vector<char> block(10);
  while (const std::size_t count = file.read(block)) content += std::string_view(block.data(), count);
  return content;
}

}  // namespace

TEST_CASE("a pipe is opened without a writer, and read when there is one") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  FileDescriptor file(path);
  CHECK_FALSE(file.size());
  CHECK_FALSE(file.wait_for_bytes(0ms));
  std::thread writer([&] { std::ofstream(path) << "what is written"; });
  CHECK(all_bytes(file) == "what is written");
  writer.join();
  CHECK(file.wait_for_bytes(0ms));
}

TEST_CASE("a writer that writes nothing ends a pipe") {
  const TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  FileDescriptor file(path);
  { const std::ofstream writer(path); }
  CHECK(file.wait_for_bytes(0ms));
  CHECK(all_bytes(file).empty());
}

TEST_CASE("standard input that another process has made non-blocking is waited for") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  std::string content;
  ssize_t written = 0;
  {
    const int saved = ::dup(STDIN_FILENO);
    REQUIRE(::dup2(ends[0], STDIN_FILENO) >= 0);
    FileDescriptor input("-");
    CHECK_FALSE(input.wait_for_bytes(0ms));
    std::thread writer([&] {
      written = ::write(ends[1], "bytes", 5);
      ::close(ends[1]);
    });
    content = all_bytes(input);
    writer.join();
    if (saved >= 0) ::dup2(saved, STDIN_FILENO);
    if (saved >= 0) ::close(saved);
  }
  ::close(ends[0]);
  CHECK(written == 5);
  CHECK(content == "bytes");
}

TEST_CASE("what only this process has, or can be read once, is a stream") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("file", "text\n");
  CHECK(is_stream("-"));
  CHECK(is_stream("/dev/null"));
  CHECK_FALSE(is_stream(file));
  CHECK_FALSE(is_stream(directory / ""));
  CHECK_FALSE(is_stream(directory / "missing"));
  const StandardInput input(file);
  CHECK(is_stream("/dev/stdin"));
  CHECK(is_stream("/dev/fd/0"));
  CHECK_FALSE(is_stream("/dev/fd/1000000"));
  FileDescriptor descriptor("/dev/stdin");
  CHECK(all_bytes(descriptor) == "text\n");
}

TEST_CASE("the number of an open file is known by each name of its folder") {
  CHECK(own_descriptor("/dev/fd/11") == 11);
  CHECK(own_descriptor("/proc/self/fd/0") == 0);
  CHECK(own_descriptor("//dev//fd//1000000") == 1000000);
  CHECK(own_descriptor("/proc/" + std::to_string(::getpid()) + "/fd/7") == 7);
  CHECK_FALSE(own_descriptor("/dev/fd"));
  CHECK_FALSE(own_descriptor("/dev/fd/"));
  CHECK_FALSE(own_descriptor("/dev/fd/x"));
  CHECK_FALSE(own_descriptor("/dev/null"));
  CHECK_FALSE(own_descriptor("11"));
  CHECK_FALSE(own_descriptor("missing/11"));
  CHECK_FALSE(own_descriptor(""));
  CHECK_THROWS_WITH(FileDescriptor("/dev/fd/1000000"),
                    Contains("/dev/fd/1000000: cannot be opened: No such file") && !Contains("mpirun"));
}

// Inputs that several ranks need: the first rank reads streams and sends them to the others; each rank reads
// files itself.
#include "lapse/io/loading/shared_inputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/io/text/input_stream.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_compress.hpp"
#include "test/unit/io_reader_threads.hpp"
#include "test/unit/io_standard_input.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using namespace lapse::io;
using lapse::test::compress;
using lapse::test::ReaderThreads;
using lapse::test::StandardInput;
using lapse::test::TemporaryDirectory;

namespace {

const std::vector<std::string> kNoErrors(3);

std::string make_pipe(const TemporaryDirectory& directory, const std::string& name) {
  const std::string path = directory / name;
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  return path;
}

std::thread write_to(const std::string& path, std::string content) {
  return std::thread(
      [path, content = std::move(content)] { std::ofstream(path, std::ios::binary) << content; });
}

std::string content_of_input(const Input& input, std::size_t block_bytes) {
  InputStream stream(input);
  std::string content;
  std::vector<char> block(block_bytes);
  while (const std::size_t count = stream.read(block)) content += std::string_view(block.data(), count);
  return content;
}

std::string numbered_lines(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += fmt::format("{}\t{}\n", i, i * i % 1000003);
  return text;
}

// The messages that the three threads have thrown, when thread i gives the paths.
std::vector<std::string> errors_of_sharing(
    const std::function<std::vector<std::string>(std::size_t)>& paths) {
  return ReaderThreads(3).run(
      [&](std::size_t i, const ReaderGroup& group) { shared_inputs(paths(i), group); });
}

}  // namespace

TEST_CASE("every rank gets all bytes of pipes and standard input, in pieces") {
  const TemporaryDirectory directory;
  const auto compression = GENERATE(Compression::none, Compression::gzip, Compression::xz, Compression::zstd);
  const std::string content = numbered_lines(200000);
  const std::string pipe = make_pipe(directory, "pipe");
  std::thread writer = write_to(pipe, compress(compression, content));
  const StandardInput input(directory.write("file", compress(compression, "of standard input\n")));
  ReaderThreads threads(3);
  std::vector<std::string> first(3);
  std::vector<std::string> second(3);
  const auto errors = threads.run([&](std::size_t i, const ReaderGroup& group) {
    const auto inputs = shared_inputs({pipe, "", "-"}, group);
    first[i] = content_of_input(inputs[0], 1000 + 300000 * i);
    second[i] = content_of_input(inputs[2], 1 + i);
  });
  writer.join();
  CHECK(errors == kNoErrors);
  for (const std::string& received : first) CHECK(received == content);
  for (const std::string& received : second) CHECK(received == "of standard input\n");
  if (compression == Compression::none) CHECK(threads.max_bytes() == std::size_t{1} << 20);
}

TEST_CASE("what is wrong in a stream is found by every rank, with its place") {
  const TemporaryDirectory directory;
  const std::string pipe = make_pipe(directory, "pipe");
  std::string content = numbered_lines(100000);
  std::string expected = "pipe:100001:3: NUL byte";
  if (GENERATE(false, true)) {
    content = compress(Compression::xz, content).substr(0, 100000);
    expected = "xz data end early: the file is cut off";
  } else {
    content += std::string("ab\0", 3);  // at the end: a writer that is not read to the end gets a signal
  }
  std::thread writer = write_to(pipe, content);
  std::vector<std::string> found(3);
  const auto errors = ReaderThreads(3).run([&](std::size_t i, const ReaderGroup& group) {
    LineReader reader(shared_inputs({pipe}, group)[0]);
    try {
      for (std::string_view line; reader.next(line);) {
      }
    } catch (const lapse::FileError& error) {
      found[i] = error.what();
    }
  });
  writer.join();
  CHECK(errors == kNoErrors);
  for (const std::string& text : found) CHECK_THAT(text, Contains(expected));
}

TEST_CASE("what a slow writer has written reaches all ranks before it goes on") {
  const TemporaryDirectory directory;
  const std::string pipe = make_pipe(directory, "pipe");
  std::promise<void> received;
  std::thread writer([&] {
    std::ofstream file(pipe);
    file << "the first line\n" << std::flush;
    received.get_future().wait();
    file << "two\n";
  });
  std::vector<std::string> second(3);
  const auto errors = ReaderThreads(3).run([&](std::size_t i, const ReaderGroup& group) {
    InputStream stream(shared_inputs({pipe}, group)[0]);
    std::string content;
    std::vector<char> block(100);
    while (const std::size_t count = stream.read(block)) {
      content += std::string_view(block.data(), count);
      if (i == 2 && content == "the first line\n") received.set_value();
    }
    second[i] = content;
  });
  writer.join();
  CHECK(errors == kNoErrors);
  for (const std::string& content : second) CHECK(content == "the first line\ntwo\n");
}

TEST_CASE("the first rank reports a stream that is silent, again and again") {
  const TemporaryDirectory directory;
  const std::string pipe = make_pipe(directory, "pipe");
  std::vector<std::string> reports;
  std::thread writer;
  std::vector<std::string> received(3);
  const auto errors = ReaderThreads(3).run([&](std::size_t i, ReaderGroup group) {
    group.silence_interval = std::chrono::milliseconds(1);
    group.report_silence = [&, i](const std::string& message) {
      reports.push_back(fmt::format("{}: {}", i, message));
      if (reports.size() == 2) writer = write_to(pipe, "text\n");
    };
    received[i] = content_of_input(shared_inputs({pipe}, group)[0], 100);
  });
  writer.join();
  CHECK(errors == kNoErrors);
  CHECK(received == std::vector<std::string>(3, "text\n"));
  REQUIRE(reports.size() >= 2);
  for (const std::string& report : reports) CHECK_THAT(report, Contains("pipe has given nothing for 0 s"));
  CHECK(reports.front().starts_with("0: "));
}

TEST_CASE("a rank that fails ends the others while the first waits for a pipe") {
  const TemporaryDirectory directory;
  const std::string pipe = make_pipe(directory, "pipe");
  const auto errors = ReaderThreads(3).run([&](std::size_t i, const ReaderGroup& group) {
    const auto inputs = shared_inputs({pipe}, group);
    if (i == 1) throw std::runtime_error("the failure");
    LineReader reader(inputs[0]);
    std::string_view line;
    reader.next(line);
  });
  CHECK(errors == std::vector<std::string>{"another thread failed", "the failure", "another thread failed"});
}

TEST_CASE("a stream is given once only") {
  const TemporaryDirectory directory;
  const std::string pipe = make_pipe(directory, "pipe");
  const std::string link = directory / "link";
  REQUIRE(::symlink("pipe", link.c_str()) == 0);
  const std::string file = directory.write("file", "text\n");
  CHECK_THROWS_AS(shared_inputs({"-", "", "-"}, {}), lapse::ConfigurationError);
  CHECK_THROWS_WITH(shared_inputs({"-", "-"}, {}), "standard input is given twice: it can be read once only");
  CHECK_THROWS_WITH(shared_inputs({pipe, file, pipe}, {}), Contains("pipe is given twice"));
  CHECK_THROWS_WITH(shared_inputs({pipe, file, link}, {}), Contains("pipe and ") && Contains("link are one"));
  CHECK_NOTHROW(shared_inputs({"-", pipe, make_pipe(directory, "other"), file, file, "", ""}, {}));
  CHECK_NOTHROW(shared_inputs({"/dev/null", "/dev/null"}, {}));
  const auto errors = errors_of_sharing([&](std::size_t) { return std::vector<std::string>{link, pipe}; });
  CHECK_THAT(errors[0], Contains("one stream"));
  CHECK(errors[1] == "another thread failed");
}

TEST_CASE("a file is read by every rank, which must have the same one") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("file", "one\ntwo\n");
  const std::string equal = directory.write("equal", "one\ntwo\n");
  const std::string longer = directory.write("longer", "one\ntwo\nthree\n");
  const auto with = [&](const std::string& first, const std::string& last) {
    return errors_of_sharing([&](std::size_t i) { return std::vector<std::string>{i < 2 ? first : last}; });
  };
  CHECK(with(file, equal) == kNoErrors);
  CHECK_THAT(with(file, longer)[2], Contains("longer: has 14 bytes on host") && Contains(" and 8 on "));
  CHECK_THAT(with(file, directory / "missing")[2],
             Contains("missing: cannot be opened on host") && Contains("No such file"));
  CHECK_THAT(with(directory / "missing", file)[0], Contains("missing: cannot be opened: No such file"));
  CHECK_THAT(with(directory / "", file)[0], Contains("is a directory"));
  const Input input = shared_inputs({file}, {}).front();
  CHECK_FALSE(input.has_source());
  CHECK(content_of_input(input, 3) == "one\ntwo\n");
}

TEST_CASE("what another rank reads has no parts") {
  const Input input("pipe", [] { return std::unique_ptr<ByteSource>(); });
  CHECK_THROWS_AS(LineReader(input, {1, 2}), lapse::UsageError);
}

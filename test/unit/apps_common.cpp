// The common parts of the applications: worker counts, summaries, progress lines, differences of counters,
// open files.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "apps/common/counter_difference.hpp"
#include "apps/common/given_descriptors.hpp"
#include "apps/common/progress_line.hpp"
#include "apps/common/required_memory.hpp"
#include "apps/common/summary.hpp"
#include "apps/common/text_form.hpp"
#include "apps/common/training_advice.hpp"
#include "apps/common/worker_counts.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using namespace lapse::apps;
using lapse::Rank;

TEST_CASE("one number of workers is that of every rank, a list has one per rank") {
  const std::vector<std::int32_t> same{3};
  CHECK_NOTHROW(check_worker_counts(same, 4));
  CHECK(workers_of(same, Rank{2}) == 3);
  CHECK(workers_before(same, Rank{2}) == 6);
  CHECK(total_workers(same, 4) == 12);
  const std::vector<std::int32_t> different{2, 0, 1};
  CHECK_NOTHROW(check_worker_counts(different, 3));
  CHECK(workers_of(different, Rank{1}) == 0);
  CHECK(workers_before(different, Rank{0}) == 0);
  CHECK(workers_before(different, Rank{2}) == 2);
  CHECK(total_workers(different, 3) == 3);
}

TEST_CASE("worker counts that fit no job are refused") {
  using lapse::ConfigurationError;
  CHECK_THROWS_AS(check_worker_counts(std::vector<std::int32_t>{}, 2), ConfigurationError);
  CHECK_THROWS_AS(check_worker_counts(std::vector<std::int32_t>{1, 1, 1}, 2), ConfigurationError);
  CHECK_THROWS_AS(check_worker_counts(std::vector<std::int32_t>{1, -1}, 2), ConfigurationError);
  CHECK_NOTHROW(check_worker_counts(std::vector<std::int32_t>{1, 4096}, 2));
  CHECK_THROWS_AS(check_worker_counts(std::vector<std::int32_t>{1, 4097}, 2), ConfigurationError);
}

TEST_CASE("a summary is a table and a JSON object") {
  Summary summary;
  summary.add("seconds", 0.25, "time", "0.25 s");
  summary.add("hidden", std::uint64_t{18446744073709551615U});
  summary.add("file", "a \"b\"\\\n", "input file");
  summary.add("nothing", std::numeric_limits<double>::quiet_NaN(), "ratio");
  summary.add_json("list", "[1, 2]");
  CHECK(summary.to_text() == "time        0.25 s\ninput file  a \"b\"\\\n\nratio       nan\n");
  CHECK(summary.to_json() ==
        "{\n  \"seconds\": 0.25,\n  \"hidden\": 18446744073709551615,\n  \"file\": \"a "
        "\\\"b\\\"\\\\\\u000a\",\n"
        "  \"nothing\": null,\n  \"list\": [1, 2]\n}\n");
  CHECK(Summary().to_json() == "{\n}\n");
}

TEST_CASE("text files are written whole, or the reason is reported") {
  const lapse::test::TemporaryDirectory directory;
  write_text_file(directory / "a", "text\n");
  CHECK(lapse::test::content_of(directory / "a") == "text\n");
  CHECK_THROWS_AS(write_text_file(directory / "missing/a", ""), lapse::FileError);
  CHECK_THROWS_AS(write_text_file("/dev/full", "text"), lapse::FileError);
}

TEST_CASE("progress in a log is a line for every report") {
  const lapse::test::TemporaryDirectory directory;
  std::FILE* const file = std::fopen((directory / "log").c_str(), "w");
  {
    ProgressLine progress(file);
    progress.report("first");
    progress.report("2nd");
  }
  std::fclose(file);
  CHECK(lapse::test::content_of(directory / "log") == "first\n2nd\n");
}

TEST_CASE("progress on a terminal is one line that is overwritten") {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
  std::FILE* const file = std::fopen(::ptsname(terminal), "w");
  REQUIRE(file != nullptr);
  {
    ProgressLine progress(file);
    progress.report("first");
    progress.report("2nd");
  }
  const std::string expected = "\rfirst\r2nd  \r\n";
  std::string shown(expected.size(), ' ');
  std::size_t count = 0;
  while (count < shown.size()) {
    const ssize_t read = ::read(terminal, shown.data() + count, shown.size() - count);
    REQUIRE(read > 0);
    count += static_cast<std::size_t>(read);
  }
  CHECK(shown == expected);
  std::fclose(file);
  ::close(terminal);
}

TEST_CASE("the time that is left follows from the epochs so far") {
  RemainingTime left(10);
  CHECK(left.after(1, 20) == "  3 min left");
  CHECK(left.after(9, 90) == "  10 s left");
  CHECK(left.after(10, 100).empty());
  RemainingTime resumed(1000);
  CHECK(resumed.after(900, 60) == "  1.7 h left");
  CHECK(resumed.after(999, 0.5).empty());
  CHECK(duration_text(89.4) == "89 s");
  CHECK(duration_text(90) == "2 min");
}

TEST_CASE("a measure improves still if its last value is the best by more than a thousandth") {
  using Measures = std::vector<double>;
  CHECK(is_still_improving(Measures{0.1, 0.2, 0.3}, true));
  CHECK_FALSE(is_still_improving(Measures{0.1, 0.2, 0.3}, false));
  CHECK(is_still_improving(Measures{0.9, 0.8}, false));
  CHECK_FALSE(is_still_improving(Measures{0.3, 0.1, 0.2}, true));
  CHECK_FALSE(is_still_improving(Measures{0.3, 0.30001}, true));
  CHECK_FALSE(is_still_improving(Measures{0.3}, true));
  CHECK_FALSE(is_still_improving(Measures{}, true));
  CHECK(improvement_advice("valid MRR", Measures{0.1, 0.2}, true) ==
        "the valid MRR was still improving in the last epochs: more may help (--epochs)\n");
  CHECK(improvement_advice("valid MRR", Measures{0.2, 0.1}, true).empty());
}

TEST_CASE("counters have differences, maxima the later value") {
  lapse::TableCounters earlier;
  earlier.local_pulls = 5;
  earlier.relocation_max_nanoseconds = 9;
  lapse::TableCounters later = earlier;
  later.local_pulls = 12;
  later.forwarded = 1;
  const lapse::TableCounters difference = counter_difference(later, earlier);
  CHECK(difference.local_pulls == 7);
  CHECK(difference.forwarded == 1);
  CHECK(difference.relocation_max_nanoseconds == 9);
}

TEST_CASE("open files that the process was not started with are no inputs") {
  const GivenDescriptors given;
  const int own = ::open("/dev/null", O_RDONLY);
  REQUIRE(own >= 0);
  const std::string path = "/dev/fd/" + std::to_string(own);
  const GivenDescriptors later;
  CHECK_NOTHROW(given.check({"", "-", "/dev/stdin", "/dev/fd/1", "/dev/null", "missing"}, 2));
  CHECK_THROWS_AS(given.check({"-", path}, 1), lapse::FileError);
  CHECK_THROWS_WITH(given.check({path}, 1), Contains(path + ": the process was not started with") &&
                                                Contains("named pipe") && !Contains("mpirun"));
  CHECK_THROWS_WITH(given.check({path}, 2), Contains("launchers such as mpirun"));
  CHECK_NOTHROW(later.check({path}, 2));
  ::close(own);
}

TEST_CASE("memory of the host is divided by its ranks, a limit of the process is its own") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_DATA, &before) == 0);
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;  // the sixth number: data pages
  for (int i = 0; i < 6; ++i) statm >> pages;
  const rlim_t used = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  const rlimit limit{.rlim_cur = used + (1 << 28), .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_DATA, &limit) == 0);
  CHECK_NOTHROW(require_memory("half of what is left", 1 << 27, 4));
  CHECK_THROWS_WITH(require_memory("more", 1 << 29, 1),
                    Contains("more needs 536.9 MB on each rank; the limit of the process's data"));
  REQUIRE(::setrlimit(RLIMIT_DATA, &before) == 0);
  CHECK_THROWS_WITH(require_memory("too much", 1e18, 1), Contains(" leaves "));
  CHECK_THROWS_AS(require_memory("a share", 1e18, 1 << 20), lapse::OutOfMemory);
}

TEST_CASE("texts are put into lower case, and their marks are kept, split or dropped") {
  const auto formed = [](std::string_view line, TextForm form) {
    FormedText text(form);
    return std::string(text.form(line));
  };
  const std::string line =
      "Don't PANIC, said Zo\xc3\x8b: \xe2\x80\x9c"
      "E-mail 3.5 \xce\x9b\xd0\x96.\xe2\x80\x9d";
  CHECK(formed(line, {}) == line);
  CHECK(formed(line, {.lower_case = true}) ==
        "don't panic, said zo\xc3\xab: \xe2\x80\x9c"
        "e-mail 3.5 \xce\xbb\xd0\xb6.\xe2\x80\x9d");
  CHECK(formed("end. (x) it's 3.5, a-b -c d'", {.punctuation = Punctuation::split}) ==
        "end .   ( x )  it's 3.5 ,  a-b  - c d ' ");
  CHECK(formed("end. (x) it's \xc2\xabyes\xc2\xbb", {.punctuation = Punctuation::drop}) ==
        "end   x  it's  yes ");
  // Letters beside their counterparts, and characters that have none.
  CHECK(formed("\xc3\x80\xc3\x97\xc3\x9e\xc3\x9f\xc5\xb8\xc4\x80\xc4\xb9\xc5\xbd", {.lower_case = true}) ==
        "\xc3\xa0\xc3\x97\xc3\xbe\xc3\x9f\xc3\xbf\xc4\x81\xc4\xba\xc5\xbe");
  CHECK(formed("\xce\x86\xce\x88\xce\x8c\xce\x8f\xd0\x81\xd4\xb1", {.lower_case = true}) ==
        "\xce\xac\xce\xad\xcf\x8c\xcf\x8e\xd1\x91\xd5\xa1");
  CHECK(formed("\xf0\x9f\x98\x80!\xe4\xb8\xad", {.lower_case = true, .punctuation = Punctuation::drop}) ==
        "\xf0\x9f\x98\x80 \xe4\xb8\xad");
  CHECK(formed("\xff\xc3", {.lower_case = true, .punctuation = Punctuation::drop}) == "\xff\xc3");
}

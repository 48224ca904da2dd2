// Regions: their observers, and the file of a trace.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/file_error.hpp"
#include "lapse/core/hooks.hpp"
#include "lapse/core/tracing/region_trace.hpp"
#include "lapse/core/tracing/timed_region.hpp"
#include "test/support/catch.hpp"

using lapse::Hooks;
using lapse::Rank;
using lapse::RegionTrace;
using lapse::set_hooks;
using lapse::TimedRegion;

namespace {

Hooks recording(std::vector<std::string>& events) {
  return {.begin_region = [&events](const char* name) { events.push_back(std::string("begin ") + name); },
          .end_region = [&events](const char* name) { events.push_back(std::string("end ") + name); }};
}

class TraceFolder {
 public:
  TraceFolder() : path_(std::filesystem::temp_directory_path() / ("regions-" + std::to_string(getpid()))) {}
  ~TraceFolder() { std::filesystem::remove_all(path_); }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  std::string path() const { return path_ / "made" / "here"; }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("hooks are notified of the regions that begin while they are set, and of their ends") {
  std::vector<std::string> first;
  std::vector<std::string> second;
  {
    const TimedRegion unnoticed("before");
    set_hooks(recording(first));
    const TimedRegion outer("outer");
    { const TimedRegion inner("inner"); }
    set_hooks(recording(second));
    const TimedRegion last("last");
    set_hooks({});
    const TimedRegion after("after");
  }
  CHECK(first == std::vector<std::string>{"begin outer", "begin inner", "end inner", "end outer"});
  CHECK(second == std::vector<std::string>{"begin last", "end last"});
}

TEST_CASE("a trace is a JSON array whenever it was flushed") {
  const TraceFolder folder;
  RegionTrace trace(folder.path(), Rank(3));
  CHECK(trace.path().find("/rank-3-") != std::string::npos);
  trace.begin("a wait");
  trace.flush();
  CHECK(content_of(trace.path()).ends_with("}\n]\n"));
  trace.end("a wait");
  trace.flush();
  const std::string text = content_of(trace.path());
  CHECK(text.starts_with(R"([{"name":"process_name","ph":"M","pid":3,)"));
  CHECK(text.find(R"({"name":"a wait","ph":"B","ts":)") < text.find(R"({"name":"a wait","ph":"E","ts":)"));
  CHECK(text.find(']') == text.size() - 2);
}

TEST_CASE("a trace that cannot be made names the folder, one that cannot go on is reported once") {
  CHECK_THROWS_AS(RegionTrace("/dev/null/traces", Rank(0)), lapse::FileError);
  const TraceFolder folder;
  RegionTrace trace(folder.path(), Rank(0));
  std::vector<std::string> messages;
  set_hooks({.log = [&](lapse::LogLevel, Rank, std::string_view text) { messages.emplace_back(text); }});
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  trace.begin("a wait");
  trace.flush();
  trace.end("a wait");
  trace.flush();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  set_hooks({});
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].find(trace.path()) != std::string::npos);
}

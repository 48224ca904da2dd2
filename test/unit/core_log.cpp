// The logger: levels, sinks, formatting and use from several threads.
#include "lapse/core/log.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "test/support/catch.hpp"

using lapse::Logger;
using lapse::LogLevel;

namespace {
struct Recorder {
  std::vector<std::string> lines;
  Logger::Sink sink() {
    return [this](LogLevel level, std::string_view message) {
      lines.push_back(std::string(lapse::to_string(level)) + ": " + std::string(message));
    };
  }
};
}  // namespace

TEST_CASE("messages less urgent than the level are dropped") {
  Recorder recorder;
  Logger logger(LogLevel::info, recorder.sink());
  logger.error("{} of {}", 1, 2);
  logger.warning("w");
  logger.info("i");
  logger.debug("d");
  logger.log(LogLevel::debug, "d");
  CHECK(recorder.lines == std::vector<std::string>{"error: 1 of 2", "warning: w", "info: i"});
  CHECK(logger.enabled(LogLevel::info));
  CHECK_FALSE(logger.enabled(LogLevel::debug));
}

TEST_CASE("the sink is called by one thread at a time") {
  constexpr int kThreads = 4;
  constexpr int kMessages = 200;
  std::atomic<int> inside = 0;
  std::atomic<int> max_inside = 0;
  std::atomic<int> calls = 0;
  Logger logger(LogLevel::debug, [&](LogLevel, std::string_view) {
    const int now_inside = ++inside;
    if (now_inside > max_inside) max_inside = now_inside;
    std::this_thread::yield();  // lets other threads in, if they can enter
    --inside;
    ++calls;
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int message = 0; message < kMessages; ++message) logger.debug("{}", message);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(calls == kThreads * kMessages);
  CHECK(max_inside == 1);
}

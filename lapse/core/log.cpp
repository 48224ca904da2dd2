#include "lapse/core/log.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "lapse/core/process/child_error.hpp"
#include "lapse/core/tracing/current_hooks.hpp"

namespace lapse {

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warning:
      return "warning";
    case LogLevel::info:
      return "info";
    case LogLevel::debug:
      return "debug";
  }
  return "unknown";
}

Logger::Logger(Rank rank, LogLevel least_urgent) : Logger(least_urgent, standard_error_sink(rank)) {}

Logger::Logger(LogLevel least_urgent, Sink sink) : least_urgent_(least_urgent), sink_(std::move(sink)) {}

void Logger::log(LogLevel level, std::string_view message) {
  if (!enabled(level)) return;
  const MutexLock guard(mutex_);
  sink_(level, message);
}

Logger::Sink standard_error_sink(Rank rank) {
  return [rank](LogLevel level, std::string_view message) {
    if (const auto hooks = current_hooks(); hooks->log) return hooks->log(level, rank, message);
    const std::string line = fmt::format("lapse[{}] {}: {}\n", rank.value(), to_string(level), message);
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);  // The application may have given it a buffer, and may end before it is written.
  };
}

void log_error(Rank rank, std::string_view message) {
  standard_error_sink(rank)(LogLevel::error, message);
}

void log_error_of_child(Rank rank, std::string_view message) {
  const std::string line = fmt::format("lapse[{}] error: {}\n", rank.value(), message);
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // There is no other place for it.
}

}  // namespace lapse

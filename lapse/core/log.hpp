// Messages for people: errors, warnings, information.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "lapse/core/export.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Passes messages up to a level to a sink. Thread safety: any thread; the sink is called by one thread at a
// time. An exception of the sink propagates to the caller of log.
class LAPSE_EXPORT_INNER Logger {
 public:
  // Gets each message without a line end.
  using Sink = std::function<void(LogLevel, std::string_view)>;

  // Prints to standard error.
  Logger(Rank rank, LogLevel least_urgent);
  Logger(LogLevel least_urgent, Sink sink);

  bool enabled(LogLevel level) const { return level <= least_urgent_; }

  void log(LogLevel level, std::string_view message);

  template <class... Arguments>
  void error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log_formatted(LogLevel::error, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void warning(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log_formatted(LogLevel::warning, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log_formatted(LogLevel::info, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void debug(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    log_formatted(LogLevel::debug, format, std::forward<Arguments>(arguments)...);
  }

 private:
  // Formats only messages that will be logged.
  template <class... Arguments>
  void log_formatted(LogLevel level, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (enabled(level)) log(level, fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  const LogLevel least_urgent_;
  Mutex mutex_;
  const Sink sink_ LAPSE_GUARDED_BY(mutex_);
};

// The default sink: the application's hook if set, otherwise one line on standard error, "lapse[<rank>]
// <level>: <message>", written by one call so that lines of several ranks do not mix.
Logger::Sink standard_error_sink(Rank rank);

// Passes an error to the default sink if no logger is available. No level suppresses errors.
void log_error(Rank rank, std::string_view message);

}  // namespace lapse

// Processes that need the same inputs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace lapse::io {

// The ranks of a program that read inputs together, each with a thread. Functions that take a group are
// collective over it. The default is a process alone.
struct ReaderGroup {
  // Collective: gives every rank the bytes of the first one; all give spans of one length. Throws when
  // another rank has failed, so that no rank waits for it.
  using Broadcast = std::function<void(std::span<std::byte>)>;

  bool is_first = true;  // of the ranks: it reads what can be read once only
  Broadcast broadcast;   // none: alone

  // Called on the first rank, with a message, when a stream has been silent for the interval, and again after
  // each further one. An interval of 0: never.
  std::chrono::milliseconds silence_interval{0};
  std::function<void(const std::string&)> report_silence = nullptr;

  // Called on the first rank with what the user of a file should know.
  std::function<void(const std::string&)> report_warning = nullptr;

  // Not collective. Reports on the first rank alone, which reads what all ranks read.
  void warn(const std::string& message) const {
    if (is_first && report_warning) report_warning(message);
  }
  bool is_alone() const { return broadcast == nullptr; }
};

}  // namespace lapse::io

// Processes that need the same inputs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace lapse::io {

// The ranks of a program that read inputs together, each with a thread. Functions that take a group are
// collective over it. The default is a single process.
struct ReaderGroup {
  // Collective: gives every rank the first rank's bytes; all pass spans of one length. Throws if another rank
  // has failed, so that no rank waits for it.
  using Broadcast = std::function<void(std::span<std::byte>)>;

  bool is_first = true;  // of the ranks: it reads what can be read only once
  Broadcast broadcast;   // empty: a single process

  // Called on the first rank, with a message, whenever a stream has been silent for another interval. 0:
  // never.
  std::chrono::milliseconds silence_interval{0};
  std::function<void(const std::string&)> report_silence = nullptr;

  // Called on the first rank with what a file's user should know.
  std::function<void(const std::string&)> report_warning = nullptr;

  // Not collective. Reports only on the first rank, which reads what all ranks read.
  void warn(const std::string& message) const {
    if (is_first && report_warning) report_warning(message);
  }
  bool is_alone() const { return broadcast == nullptr; }
};

}  // namespace lapse::io

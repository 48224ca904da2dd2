// Reports how far a long computation is.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

namespace lapse::apps {

// On a terminal, one line that is overwritten; else (a batch log) a line for every report. Not thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(std::FILE* output);
  // Ends the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // A text without line ends.
  void report(std::string_view text);

 private:
  std::FILE* output_;
  bool is_terminal_;
  std::size_t shown_ = 0;  // characters now on the terminal's line
};

}  // namespace lapse::apps

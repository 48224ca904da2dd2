// Reports the progress of a long computation.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

namespace lapse::apps {

// On a terminal, overwrites one line; otherwise (a batch log) writes a line for each report. Not thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(std::FILE* output);
  // Ends the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `text`: without line breaks.
  void report(std::string_view text);

 private:
  std::FILE* output_;
  bool is_terminal_;
  std::size_t shown_ = 0;  // characters on the terminal's line
};

}  // namespace lapse::apps

#include "apps/common/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>

namespace lapse::apps {

namespace {

// Launchers such as mpirun give a rank a pseudo-terminal without a size even if its output is redirected.
bool is_terminal_of_a_user(std::FILE* output) {
  winsize size{};
  return ::ioctl(::fileno(output), TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
}

}  // namespace

ProgressLine::ProgressLine(std::FILE* output)
    : output_(output), is_terminal_(is_terminal_of_a_user(output)) {}

ProgressLine::~ProgressLine() {
  if (shown_ != 0) fmt::print(output_, "\n");
  std::fflush(output_);
}

void ProgressLine::report(std::string_view text) {
  if (is_terminal_) {
    // Blanks overwrite the rest of a longer previous text.
    fmt::print(output_, "\r{:<{}}", text, std::max(shown_, text.size()));
    shown_ = text.size();
  } else {
    fmt::print(output_, "{}\n", text);
  }
  std::fflush(output_);
}

}  // namespace lapse::apps

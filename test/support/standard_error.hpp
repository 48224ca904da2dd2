// Captures the standard error of a process.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lapse::test {

// Captures what this process writes to its standard error while the object lives.
class StandardError {
 public:
  StandardError() : before_(dup(STDERR_FILENO)) {
    if (pipe(ends_) != 0) throw std::runtime_error("no pipe");
    dup2(ends_[1], STDERR_FILENO);
  }
  ~StandardError() {
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(ends_[0]);
    close(ends_[1]);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

  // Reads until the message has arrived.
  std::string read_until(std::string_view text) {
    std::string all;
    while (all.find(text) == std::string::npos) {
      char characters[4096];
      const ssize_t count = read(ends_[0], characters, sizeof characters);
      if (count <= 0) throw std::runtime_error("the pipe has ended");
      all.append(characters, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int before_;
  int ends_[2] = {};
};

}  // namespace lapse::test

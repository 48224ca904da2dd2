// A process that is stopped repeatedly, as on an overloaded host.
#pragma once

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

extern char** environ;

namespace lapse::test {

// While it lives, a child process repeatedly stops this process for 50 milliseconds.
class StopsNowAndThen {
 public:
  explicit StopsNowAndThen(int times) {
    const std::string script = fmt::format(
        "i=0; while [ $i -lt {1} ]; do sleep 0.0$((3 + i % 5)); kill -STOP {0}; sleep 0.05; kill -CONT {0}; "
        "i=$((i + 1)); done",
        getpid(), times);
    const char* const arguments[] = {"sh", "-c", script.c_str(), nullptr};
    if (posix_spawn(&child_, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(arguments), environ) != 0)
      child_ = -1;
  }
  // Waits until the child has made all its stops.
  ~StopsNowAndThen() {
    if (child_ > 0 && !finished_) waitpid(child_, nullptr, 0);
  }
  StopsNowAndThen(const StopsNowAndThen&) = delete;
  StopsNowAndThen& operator=(const StopsNowAndThen&) = delete;

  bool begun() const { return child_ > 0; }
  // Whether the child has stopped the process for the last time.
  bool finished() {
    finished_ = finished_ || waitpid(child_, nullptr, WNOHANG) == child_;
    return finished_;
  }

 private:
  bool finished_ = false;
  pid_t child_ = -1;
};

}  // namespace lapse::test

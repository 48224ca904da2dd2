// A process that stands still now and then, as on a host with too much to do.
#pragma once

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

extern char** environ;

namespace lapse::test {

// As long as the object lives, a child process stops this process for 50 milliseconds, again and again.
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
  // It has done its work by then, or this waits for it.
  ~StopsNowAndThen() {
    if (child_ > 0 && !finished_) waitpid(child_, nullptr, 0);
  }
  StopsNowAndThen(const StopsNowAndThen&) = delete;
  StopsNowAndThen& operator=(const StopsNowAndThen&) = delete;

  bool begun() const { return child_ > 0; }
  // Whether it has stopped the process for the last time.
  bool finished() {
    finished_ = finished_ || waitpid(child_, nullptr, WNOHANG) == child_;
    return finished_;
  }

 private:
  bool finished_ = false;
  pid_t child_ = -1;
};

}  // namespace lapse::test

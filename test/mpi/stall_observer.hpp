// Reads the log of this process.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace lapse::test {

// Forwards the standard error of the process until all texts have been seen, in any order, or until a
// timeout; then calls resume(). Thread safety: used by the thread that made it; another thread calls resume.
class StallObserver {
 public:
  StallObserver(bool observes, std::vector<std::string> texts, std::function<void()> resume)
      : observes_(observes), texts_(std::move(texts)), resume_(std::move(resume)) {
    if (!observes_) return;
    if (pipe(ends_) != 0) throw std::runtime_error("no pipe");
    before_ = dup(STDERR_FILENO);
    dup2(ends_[1], STDERR_FILENO);
    reader_ = std::thread([this] { read(); });
  }
  ~StallObserver() { end(); }
  StallObserver(const StallObserver&) = delete;
  StallObserver& operator=(const StallObserver&) = delete;

  // Whether a signal has stopped a process. Throws if the process has ended.
  static bool stopped(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line)) throw std::runtime_error("the process has ended");
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string::npos && line.substr(name_end + 2, 1) == "T";
  }

  // The text that has been read, at the end.
  const std::string& text() {
    end();
    return all_;
  }
  // Throws unless every text has been seen. Prints that the report is right.
  void finish() {
    if (!observes_) return;
    end();
    for (const std::string& text : texts_) {
      if (all_.find(text) != std::string::npos) continue;
      std::fprintf(stderr, "nothing says \"%s\" in: \"%s\"\n", text.c_str(), all_.c_str());
      throw std::runtime_error("a report is not right");
    }
    std::puts("the report is right");
  }

 private:
  static constexpr std::chrono::seconds kPatience{8};

  void end() {
    if (!reader_.joinable()) return;
    reader_.join();
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(ends_[0]);
    close(ends_[1]);
  }

  bool complete() const {
    for (const std::string& text : texts_)
      if (all_.find(text) == std::string::npos) return false;
    return true;
  }

  void read() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!complete() && std::chrono::steady_clock::now() < deadline) {
      pollfd ready{.fd = ends_[0], .events = POLLIN, .revents = 0};
      constexpr int kMilliseconds = 100;
      if (poll(&ready, 1, kMilliseconds) <= 0) continue;
      char characters[4096];
      const ssize_t count = ::read(ends_[0], characters, sizeof characters);
      if (count <= 0) break;
      all_.append(characters, static_cast<std::size_t>(count));
      if (write(before_, characters, static_cast<std::size_t>(count)) != count) break;
    }
    dup2(before_, STDERR_FILENO);
    resume_();
  }

  bool observes_;
  std::vector<std::string> texts_;
  std::function<void()> resume_;
  std::string all_;
  int before_ = -1;
  int ends_[2] = {};
  std::thread reader_;
};

}  // namespace lapse::test

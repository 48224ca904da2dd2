#include "lapse/core/tracing/region_trace.hpp"

#include <fmt/format.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "lapse/core/file_error.hpp"
#include "lapse/core/log.hpp"

namespace lapse {

namespace {

constexpr std::string_view kEnd = "\n]\n";

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace

void RegionTrace::Close::operator()(std::FILE* file) const {
  std::fclose(file);
}

RegionTrace::RegionTrace(std::string folder, Rank rank) : folder_(std::move(folder)), rank_(rank) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) throw FileError(folder_, "the folder cannot be made: " + problem.message());
  const MutexLock guard(mutex_);
  // Another copy of the library in this process may use the first name.
  constexpr int kMaxCopies = 100;
  for (int copy = 0; copy < kMaxCopies && file_ == nullptr; ++copy) {
    path_ = fmt::format("{}/rank-{}-{}-{}{}.json", folder_, rank.value(), host_name(), getpid(),
                        copy == 0 ? "" : fmt::format("-{}", copy));
    file_.reset(std::fopen(path_.c_str(), "wxe"));
    if (file_ == nullptr && errno != EEXIST) break;
  }
  if (file_ == nullptr)
    throw FileError(path_, std::string("the file cannot be made: ") + std::strerror(errno));
  const std::string head =
      fmt::format(R"([{{"name":"process_name","ph":"M","pid":{0},"args":{{"name":"rank {0} on {1}"}}}})",
                  rank.value(), host_name());
  if (std::fwrite(head.data(), 1, head.size(), file_.get()) != head.size())
    throw FileError(path_, std::string("it cannot be written: ") + std::strerror(errno));
}

void RegionTrace::begin(const char* name) noexcept {
  write(name, 'B');
}

void RegionTrace::end(const char* name) noexcept {
  write(name, 'E');
}

void RegionTrace::write(const char* name, char phase) noexcept {
  constexpr std::size_t kLongest = 256;
  if (is_left_) return;
  thread_local const auto thread = static_cast<long>(syscall(SYS_gettid));
  const MutexLock guard(mutex_);
  if (file_ == nullptr) return;
  // Under the lock, so that the file's events are in time order.
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  std::array<char, kLongest> line{};
  const auto [end, size] = fmt::format_to_n(
      line.data(), line.size(), ",\n{{\"name\":\"{}\",\"ph\":\"{}\",\"ts\":{}.{:03},\"pid\":{},\"tid\":{}}}",
      name, phase, time / 1000, time % 1000, rank_.value(), thread);
  static_cast<void>(end);
  if (size <= line.size()) check(std::fwrite(line.data(), 1, size, file_.get()) == size);
}

// The parent writes what is in the buffer. Another thread may have held the mutex at the fork.
void RegionTrace::leave_to_parent() noexcept LAPSE_NO_THREAD_SAFETY_ANALYSIS {
  is_left_ = true;
  if (file_ != nullptr) __fpurge(file_.get());
}

void RegionTrace::flush() noexcept {
  if (is_left_) return;
  const MutexLock guard(mutex_);
  if (file_ == nullptr) return;
  const bool written =
      std::fwrite(kEnd.data(), 1, kEnd.size(), file_.get()) == kEnd.size() && std::fflush(file_.get()) == 0;
  // Further events overwrite the end.
  check(written && std::fseek(file_.get(), -static_cast<long>(kEnd.size()), SEEK_CUR) == 0);
}

void RegionTrace::check(bool written) noexcept {
  if (written) return;
  const int problem = errno;
  file_.reset();
  try {
    log_error(rank_, fmt::format("the trace of regions ends early: {}: {}", path_, std::strerror(problem)));
  } catch (...) {
    return;  // Out of memory for the message; the file shows that it ended.
  }
}

}  // namespace lapse

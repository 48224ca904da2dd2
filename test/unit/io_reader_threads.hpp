// Threads that read inputs together, like the ranks of a program.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lapse/io/loading/reader_group.hpp"

namespace lapse::test {

// Thrown by a thread that waits for another one that has failed.
struct PeerThreadFailed : std::runtime_error {
  PeerThreadFailed() : std::runtime_error("another thread failed") {}
};

class ReaderThreads {
 public:
  using Read = std::function<void(std::size_t thread, const io::ReaderGroup& group)>;

  explicit ReaderThreads(std::size_t count) : count_(count) {}

  // Runs f on every thread and returns the message that each has thrown, empty if none.
  std::vector<std::string> run(const Read& f) {
    std::vector<std::string> errors(count_);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count_; ++i) {
      threads.emplace_back([&, i] {
        try {
          f(i, {i == 0, [this, i](std::span<std::byte> bytes) { broadcast(i == 0, bytes); }});
        } catch (const std::exception& error) {
          errors[i] = error.what();
          fail();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

  // State of one broadcast.
  std::size_t max_bytes() const { return max_bytes_; }

 private:
  // Every thread waits for all others, like in a broadcast that all must agree to.
  void broadcast(bool is_first, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    if (is_first) {
      sent_.assign(bytes.begin(), bytes.end());
      max_bytes_ = std::max(max_bytes_, bytes.size());
    }
    const std::size_t round = round_;
    if (++arrived_ == count_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round || failed_; });
    if (round_ == round) throw PeerThreadFailed();
    if (sent_.size() != bytes.size()) throw std::runtime_error("broadcast of different lengths");
    std::ranges::copy(sent_, bytes.begin());
    // The next round begins after all threads have copied.
    const std::size_t copied = ++copied_;
    if (copied == count_) {
      copied_ = 0;
      ++copies_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return copies_ > round || failed_; });
    }
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

  const std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte> sent_;
  std::size_t arrived_ = 0;
  std::size_t copied_ = 0;
  std::size_t round_ = 0;   // broadcasts that all threads have begun
  std::size_t copies_ = 0;  // broadcasts that all threads have ended
  std::size_t max_bytes_ = 0;
  bool failed_ = false;
};

}  // namespace lapse::test

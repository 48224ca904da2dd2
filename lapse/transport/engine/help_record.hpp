// Whether waiting workers drive the engine instead of the server thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace lapse {

// Workers that help record it here; the server thread reads it through a View to decide whether to poll.
//
// Thread safety: begin, stay, end_stay, leave_packet and View::take_over by the holder of the progress lock;
// the rest by any thread, each View by one. Nothing here orders memory: the server thread's doorbell does.
//
// Invariant: a packet that waits for space and was left by a worker belongs to the server thread until a
// worker begins to help again: the server thread's view does not count earlier help.
class HelpRecord {
 public:
  // A worker begins to help: it polls, including for packets that wait for space.
  void begin() {
    helps_.store(helps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    awaits_room_.store(false, std::memory_order_relaxed);
  }
  // A worker wanted to help but another thread drives the engine; the worker is expected to come back. Any
  // thread.
  void ask() { asks_.fetch_add(1, std::memory_order_relaxed); }
  // The worker continues to help until end_stay().
  void stay() { helpers_.fetch_add(1, std::memory_order_relaxed); }
  void end_stay() { helpers_.fetch_sub(1, std::memory_order_relaxed); }
  // A thread leaves while a packet waits for space.
  void leave_packet() { awaits_room_.store(true, std::memory_order_relaxed); }

  // True if a packet waited for space when a thread left, and no other thread has taken over since.
  bool awaits_room() const { return awaits_room_.load(std::memory_order_relaxed); }
  bool has_helpers() const { return helpers_.load(std::memory_order_relaxed) > 0; }

  // The server thread's view.
  class View {
   public:
    explicit View(HelpRecord& record) : record_(record), seen_(record.helps()) {}

    // True if polling is unnecessary: a worker helps, or has helped since this thread last polled or asked
    // and is expected to help again.
    bool is_helped() {
      const std::uint64_t before = std::exchange(seen_, record_.helps());
      return !record_.awaits_room() && (record_.has_helpers() || seen_ != before);
    }
    // This thread polls, holding the progress lock.
    void take_over() {
      record_.awaits_room_.store(false, std::memory_order_relaxed);
      seen_ = record_.helps();
    }

   private:
    HelpRecord& record_;
    std::uint64_t seen_;
  };

 private:
  std::uint64_t helps() const {
    return helps_.load(std::memory_order_relaxed) + asks_.load(std::memory_order_relaxed);
  }

  std::atomic<std::int32_t> helpers_{0};  // workers that stay
  std::atomic<std::uint64_t> helps_{0};   // how often a worker began to help
  std::atomic<std::uint64_t> asks_{0};    // how often a worker could not
  std::atomic<bool> awaits_room_{false};
};

}  // namespace lapse

// Drives one channel: takes submissions, delivers packets, lets waiting workers help.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "lapse/transport/doorbell.hpp"
#include "lapse/transport/idle_policy.hpp"
#include "lapse/transport/submission_queue.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// What an engine runs. Every call comes from the holder of the progress lock.
class EngineClient {
 public:
  virtual void handle_packet(Rank from, std::span<const std::byte> packet) = 0;
  // All decisions of this turn have been made: send what they produced.
  virtual void end_turn() = 0;
  // An exception came out of handle_packet or of a submission. Must not throw; end_turn follows.
  virtual void handle_failure(std::exception_ptr failure) noexcept = 0;

 protected:
  ~EngineClient() = default;
};

struct EngineCounters {
  std::uint64_t turns = 0;
  std::uint64_t helper_turns = 0;  // of them, by waiting workers
  std::uint64_t packets_received = 0;
  std::uint64_t bytes_received = 0;
};

// Thread safety: submit, wait and notify by any thread; serve by one thread, the server progress thread.
//
// Invariants:
// 1. Only the holder of the progress lock touches the transport and calls the client.
// 2. After submit returned, the submission is handled without further calls by the submitter: its own turn
// did it,
//    or the lock holder of the moment looks again after it has released the lock, or the server thread does.
// 3. A thread that sleeps holds no lock. Where messages come that ring for nobody, the server thread sleeps
// and dozes no longer than IdleSettings::sleep_max.
// 4. Whoever leaves the transport in the middle of a send wakes the server thread to go on with it.
class ProgressEngine {
 public:
  static constexpr std::size_t kPacketsPerTurn = 16;

  struct Settings {
    IdleSettings idle;
    bool helping = true;  // false: only the thread in serve enters the transport (MPI_THREAD_FUNNELED)
    bool polling = true;  // false: no packet can come from outside (a single rank)
    bool everybody_rings = false;  // whoever can send a packet wakes the server thread with it
    bool crowded = false;          // see set_crowded
  };

  ProgressEngine(Transport& transport, EngineClient& client, const Settings& settings);

  // Queues a submission and, where allowed, drives the engine once.
  void submit(Submission& submission);

  // What a thread waits for: answers, which come soon, or other workers, who compute as long as they please.
  enum class WaitFor : std::uint8_t { answers, workers };
  // Returns when done() is true, driving the engine meanwhile. `bell` is the calling thread's own; whoever
  // makes done() true rings it. done() must be cheap and free of side effects.
  template <class Done>
  void wait(Doorbell& bell, Done&& done, WaitFor what = WaitFor::answers);

  // Drives the engine until stop() is true; whoever makes it true calls notify.
  template <class Stop>
  void serve(Stop&& stop);

  // Wakes the server thread.
  void notify() { server_bell_.knock(); }
  // For the server thread where it waits for something else than serve does: sleeps until somebody rings, at
  // most as long as `idle` says, unless look() finds something to do after the announcement.
  template <class Look>
  void sleep(IdlePolicy& idle, Look&& look) {
    server_bell_.sleep(sleep_limit(idle), look);
  }

  // Calls f() with the progress lock held, for the few who need the client's state to hold still.
  template <class F>
  void exclusively(F&& f) {
    {
      const std::lock_guard guard(mutex_);
      f();
    }
    drive_submissions();
  }
  // One turn: all submissions, then at most `packets` packets. Called from exclusively. True when anything
  // was done.
  bool turn(std::size_t packets = kPacketsPerTurn);
  // What has been submitted, oldest first, for a caller that carries it out itself, in steps of its own;
  // called from exclusively.
  Submission* take_submissions() { return queue_.take_all(); }

  // True when nothing waits in the queue and the transport has nothing under way; called from exclusively.
  bool quiet() const { return queue_.empty() && transport_.idle(); }

  // Before threads wait or serve: whether there are fewer processors than threads with work. Then whoever
  // looks without pause takes one from whom it waits for.
  void set_crowded(bool crowded) { settings_.crowded = crowded; }
  // How long threads that find nothing look and sleep.
  IdleSettings idle_settings() const {
    IdleSettings idle = settings_.idle;
    if (settings_.crowded) idle.looks_per_yield = 0;
    return idle;
  }

  const EngineCounters& counters() const { return counters_; }

 private:
  // Nobody but a ring can bring news where everybody rings, unless the MPI library has kept back what it was
  // given to send: then somebody has to look soon. So even there the first sleeps are short.
  static constexpr std::chrono::microseconds kLongSleep{10'000};

  std::chrono::microseconds sleep_limit(IdlePolicy& idle) const {
    if (!settings_.polling) return kLongSleep;
    return settings_.everybody_rings ? idle.sleep_length(kLongSleep) : idle.sleep_length();
  }
  // One turn, when the lock is free; true when something was done or somebody else is at it.
  bool look_around();
  // Drives turns while there are submissions that nobody else will see.
  void drive_submissions();
  void wake_sleeper() {
    if (sleeper_.load(std::memory_order_relaxed) == nullptr) return;
    if (Doorbell* bell = sleeper_.exchange(nullptr, std::memory_order_relaxed)) bell->ring();
  }
  // Where processors are scarce, nobody looks for messages while others compute, if they will be announced.
  bool leaves_all_to_server(WaitFor what) const {
    return what == WaitFor::workers && settings_.crowded && (settings_.everybody_rings || !settings_.polling);
  }
  // Sleeps until the bell rings, at most `limit`, unless done() is true or there was something to do. The
  // messages are for the server thread meanwhile: it must not doze. Of the two who
  // announce at the same time, one sees the other.
  template <class Done>
  void sleep_beside_server(Doorbell& bell, std::chrono::microseconds limit, Done&& done) {
    resting_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // Whatever came while the server thread dozed rang in vain.
    const bool found = settings_.helping && server_bell_.expose() && look_around();
    if (!found) bell.sleep(limit, done);
    resting_.fetch_sub(1, std::memory_order_relaxed);
  }
  // Nobody helps now, and a worker leaves all messages to the server thread.
  bool must_listen() const {
    return resting_.load(std::memory_order_relaxed) > 0 && helpers_.load(std::memory_order_relaxed) == 0;
  }
  void pause(IdlePolicy::Step step) {
    if (step == IdlePolicy::Step::yield) std::this_thread::yield();
  }

  // constant
  Transport& transport_;
  EngineClient& client_;
  Settings settings_;
  Transport::Handler deliver_;
  // self-synchronised
  SubmissionQueue queue_;
  Doorbell own_bell_;
  Doorbell& server_bell_;  // the transport's, if it has one
  std::atomic<std::int32_t> helpers_{0};
  std::atomic<std::int32_t> resting_{0};     // workers that sleep in wait
  std::atomic<std::uint64_t> helps_{0};      // how often a worker began to help; written under mutex_
  std::atomic<Doorbell*> sleeper_{nullptr};  // of the waiters that sleep, the one that fell asleep last
  std::mutex mutex_;                         // the progress lock
  // guarded by mutex_
  EngineCounters counters_;
};

template <class Done>
void ProgressEngine::wait(Doorbell& bell, Done&& done, WaitFor what) {
  if (leaves_all_to_server(what)) {
    while (!done()) sleep_beside_server(bell, kLongSleep, done);
    return;
  }
  IdlePolicy idle(idle_settings());
  while (!done()) {
    IdlePolicy::Step step = IdlePolicy::Step::look;
    if (settings_.helping && mutex_.try_lock()) {
      helpers_.fetch_add(1, std::memory_order_relaxed);
      helps_.store(helps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      // Packets are for this thread now. A server thread that sleeps would be woken by each: it is to doze.
      if (server_bell_.is_asleep()) server_bell_.ring();
      for (;;) {
        const bool progressed = turn(1);
        ++counters_.helper_turns;
        if (done()) break;
        if (progressed) {
          idle.succeeded();
          continue;
        }
        step = idle.failed(&IdlePolicy::Clock::now);
        if (step == IdlePolicy::Step::sleep && !transport_.idle()) step = IdlePolicy::Step::yield;
        if (step != IdlePolicy::Step::look) break;
      }
      helpers_.fetch_sub(1, std::memory_order_relaxed);
      mutex_.unlock();
      drive_submissions();
      // Whoever leaves for good asks a sleeping waiter to go on helping. The server thread may doze a little
      // longer: most who leave come back at once.
      if (done()) wake_sleeper();
    } else {
      step = idle.failed(&IdlePolicy::Clock::now);
    }
    if (step == IdlePolicy::Step::sleep) {
      sleeper_.store(&bell, std::memory_order_relaxed);
      sleep_beside_server(bell, sleep_limit(idle), done);
      Doorbell* self = &bell;
      sleeper_.compare_exchange_strong(self, nullptr, std::memory_order_relaxed);
    } else {
      pause(step);
    }
  }
}

template <class Stop>
void ProgressEngine::serve(Stop&& stop) {
  IdlePolicy idle(idle_settings());
  std::uint64_t helps = helps_.load(std::memory_order_relaxed);
  while (!stop()) {
    bool progressed = false;
    bool must_stay = false;
    // While a worker helps, or has helped since the last look and will again, there is nothing to do here but
    // to look again later.
    const std::uint64_t helps_before = std::exchange(helps, helps_.load(std::memory_order_relaxed));
    const bool helped = helpers_.load(std::memory_order_relaxed) > 0 || helps != helps_before;
    if (!helped && mutex_.try_lock()) {
      progressed = turn();
      must_stay = !transport_.idle();
      mutex_.unlock();
      drive_submissions();
    }
    if (progressed) {
      idle.succeeded();
      continue;
    }
    const IdlePolicy::Step step = idle.failed(&IdlePolicy::Clock::now);
    if (helped) {
      // Another worker may have helped a moment ago and come back soon: then it is a short doze.
      const bool listens = must_listen();
      server_bell_.doze(listens ? settings_.idle.sleep_min : idle.sleep_length(),
                        [&] { return stop() || (!listens && must_listen()); });
    } else if (step == IdlePolicy::Step::sleep && !must_stay) {
      server_bell_.sleep(sleep_limit(idle), [&] { return stop() || !queue_.empty() || look_around(); });
    } else {
      pause(step == IdlePolicy::Step::sleep ? IdlePolicy::Step::yield : step);
    }
  }
}

}  // namespace lapse

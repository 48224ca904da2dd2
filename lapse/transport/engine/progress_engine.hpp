// Drives the protocol of one rank: handles submissions, delivers packets, lets waiting workers help.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <thread>

#include "lapse/core/mutex.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/transport/engine/help_record.hpp"
#include "lapse/transport/engine/idle_policy.hpp"
#include "lapse/transport/engine/submission_queue.hpp"
#include "lapse/transport/host/doorbell.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// The client that an engine runs. The holder of the progress lock makes all calls.
class EngineClient {
 public:
  virtual void handle_packet(Rank from, std::span<const std::byte> packet) LAPSE_REQUIRES(progress_role) = 0;
  // All decisions of this turn are made: send what they produced.
  virtual void end_turn() LAPSE_REQUIRES(progress_role) = 0;
  // Like end_turn, after a submission of a worker that is likely to make more. May leave packets that gain
  // from being sent with later ones to the next end_turn, which follows soon; returns whether it did.
  virtual bool end_submission() LAPSE_REQUIRES(progress_role) {
    end_turn();
    return false;
  }
  // handle_packet, handle_deadline or a submission threw an exception. Must not throw; end_turn follows.
  virtual void handle_failure(std::exception_ptr failure) noexcept LAPSE_REQUIRES(progress_role) = 0;

  // For clients with timed work: when to call handle_deadline, if at all. Called after every turn that did
  // something, so it must be cheap.
  virtual std::optional<IdlePolicy::Clock::time_point> next_deadline() const LAPSE_REQUIRES(progress_role) {
    return std::nullopt;
  }
  // The deadline has passed; end_turn follows. Afterwards next_deadline() is later than `now` or nullopt.
  virtual void handle_deadline(IdlePolicy::Clock::time_point now) LAPSE_REQUIRES(progress_role) {
    static_cast<void>(now);
  }

 protected:
  ~EngineClient() = default;
};

struct EngineCounters {
  std::uint64_t turns = 0;
  std::uint64_t helper_turns = 0;  // of the turns, those by waiting workers
  std::uint64_t packets_received = 0;
  std::uint64_t bytes_received = 0;
};

// Thread safety: submit, wait and notify by any thread; serve by one thread, the server thread.
//
// Invariants:
// 1. Only the holder of the progress lock touches the transport and calls the client.
// 2. After submit returned, the submission is handled without further calls by the submitter: by its own
//    turn, by the current lock holder (which checks after releasing the lock), or by the server thread.
// 3. A sleeping thread holds no lock. If messages arrive without ringing a bell, the server thread sleeps,
//    deeply or lightly, no longer than IdleSettings::sleep_max.
// 4. A thread that leaves the transport in the middle of a send wakes the server thread to continue it. If
//    packets wait for space, this ends light sleep too, and the server thread polls until they have it.
// 5. The server thread does not sleep past the client's deadline and wakes if one is set meanwhile. Beside a
//    helping worker, which meets the deadline in its turns, it sleeps at least half of
//    IdleSettings::sleep_min. A worker that drives the engine while it waits does not sleep past the deadline
//    either. Without a deadline no clock is read for it.
class ProgressEngine {
 public:
  static constexpr std::size_t kPacketsPerTurn = 16;

  struct Settings {
    IdleSettings idle;
    // False: only the thread in serve, or the sole driver, enters the transport (MPI_THREAD_FUNNELED).
    bool helping = true;
    bool polling = true;        // false: no packet can come from outside (a single rank)
    bool senders_ring = false;  // every rank that can send a packet wakes the server thread with it
    bool crowded = false;       // see set_crowded
  };

  ProgressEngine(Transport& transport, EngineClient& client, const Settings& settings);

  // Queues a submission and, if allowed, drives the engine once.
  void submit(Submission& submission) LAPSE_EXCLUDES(progress_role);

  // Queues a submission from a thread that may not drive the engine, even while no thread does.
  void submit_from_outside(Submission& submission) {
    queue_.push(submission);
    notify();
  }

  // Carries out a submission of the calling thread at once, after those that wait. Returns false, having done
  // nothing, if another thread drives the engine.
  bool try_submit(Submission& submission) LAPSE_EXCLUDES(progress_role);
  // Like try_submit, but waits for the thread that drives the engine. For threads that try_submit has let in.
  void submit_in_place(Submission& submission) LAPSE_EXCLUDES(progress_role);

  // Like try_submit, for a thread that calls it repeatedly: it handles arrived packets, and the server thread
  // leaves them to it.
  bool help(Submission& submission) LAPSE_EXCLUDES(progress_role);

  // The awaited event: answers, which arrive soon, or other workers, which may compute for any time.
  enum class WaitFor : std::uint8_t { answers, workers };
  // Drives the engine until done() is true. `bell` is the calling thread's own; the thread that makes done()
  // true rings it. done() must be cheap and free of side effects.
  template <class Done>
  void wait(Doorbell& bell, Done&& done, WaitFor what = WaitFor::answers) LAPSE_EXCLUDES(progress_role);

  // Drives the engine until stop() is true; the thread that makes it true calls notify.
  template <class Stop>
  void serve(Stop&& stop) LAPSE_EXCLUDES(progress_role);

  // Wakes the server thread.
  void notify() { server_bell_.force_wake(); }
  // For the server thread while it waits for something other than serve does. Sleeps until the bell rings, at
  // most as long as `idle` and the deadline allow, unless poll() finds work after the sleep is announced.
  template <class Poll>
  void sleep(IdlePolicy& idle, Poll&& poll) LAPSE_EXCLUDES(progress_role) {
    const Clock::rep deadline = deadline_.load(std::memory_order_relaxed);
    server_bell_.sleep(until_deadline(sleep_limit(idle), deadline),
                       [&] { return deadline_.load(std::memory_order_relaxed) != deadline || poll(); });
  }

  // Calls f() with the progress lock held, so that the client's state does not change meanwhile.
  template <class F>
  void exclusively(F&& f) LAPSE_EXCLUDES(progress_role) {
    {
      const Holder holder(*this);
      f();
      update_deadline();
    }
    drive_submissions();
  }
  // One turn: all submissions, `own` last, then what the deadline asks for, then at most `packets` packets.
  // True if anything was done. If `own` is the only submission and `goes_on`, the client may leave packets to
  // the next turn (end_submission), and this one ends.
  bool turn(std::size_t packets = kPacketsPerTurn, Submission* own = nullptr, bool goes_on = false)
      LAPSE_REQUIRES(progress_role);
  // The pending submissions, oldest first, for a caller that carries them out itself.
  Submission* take_submissions() LAPSE_REQUIRES(progress_role) { return queue_.take_all(); }

  // True if the queue is empty and the transport has nothing in flight.
  bool quiet() const LAPSE_REQUIRES(progress_role) {
    return queue_.empty() && !holds_packets_ && transport_.idle();
  }

  // Call before threads wait or serve. No thread will serve: `thread` drives the engine while it waits, and
  // other threads do so if they help. A default thread id: a thread serves again.
  void set_sole_driver(std::thread::id thread) { sole_driver_ = thread; }
  // For threads that compute: drives the engine while there is work. If there is none, the sole driver waits
  // for some, at most `wait`; other threads do not wait.
  void make_progress(std::chrono::microseconds wait) LAPSE_EXCLUDES(progress_role);

  // Call before threads wait or serve. True: there are fewer processors than threads with work, so a thread
  // that polls without pause takes a processor from the thread it waits for.
  void set_crowded(bool crowded) { settings_.crowded = crowded; }
  // How long threads that find no work poll and sleep.
  IdleSettings idle_settings() const {
    IdleSettings idle = settings_.idle;
    if (settings_.crowded) idle.polls_per_yield = 0;
    return idle;
  }

  // Requires the progress lock, or that no thread drives the engine.
  const EngineCounters& counters() const LAPSE_NO_THREAD_SAFETY_ANALYSIS { return counters_; }

 private:
  using Clock = IdlePolicy::Clock;
  static constexpr Clock::rep kNoDeadline = std::numeric_limits<Clock::rep>::max();
  // If all senders ring, only a ring announces packets, unless the MPI library has held back a packet that it
  // was given to send; then it must be polled soon. So the first sleeps are short in either case.
  static constexpr std::chrono::microseconds kLongSleep{10'000};

  bool has_sole_driver() const { return sole_driver_ != std::thread::id(); }
  bool is_sole_driver() const { return has_sole_driver() && sole_driver_ == std::this_thread::get_id(); }
  // Whether this thread may enter the transport outside serve.
  bool may_drive() const { return settings_.helping || is_sole_driver(); }

  bool try_enter() LAPSE_TRY_ACQUIRE(true, mutex_, progress_role) {
    if (!mutex_.try_lock()) return false;
    progress_role.acquire();
    return true;
  }
  void leave() LAPSE_RELEASE(mutex_, progress_role) {
    progress_role.release();
    mutex_.unlock();
  }
  // Holds the progress lock during its lifetime.
  class LAPSE_SCOPED_CAPABILITY Holder {
   public:
    explicit Holder(ProgressEngine& engine) LAPSE_ACQUIRE(engine.mutex_, progress_role) : engine_(engine) {
      engine_.mutex_.lock();
      progress_role.acquire();
    }
    ~Holder() LAPSE_RELEASE() { engine_.leave(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

   private:
    ProgressEngine& engine_;
  };

  void carry_out(Submission& submission) LAPSE_REQUIRES(progress_role);
  // One turn of a thread that does not stay, with `own` as the last submission; true if something was done or
  // is in flight.
  bool turn_and_leave(Submission* own) LAPSE_RELEASE(mutex_, progress_role);
  // This thread handles the packets for a while.
  void begin_to_help() LAPSE_REQUIRES(progress_role) {
    help_.begin();
    // Each packet would wake a server thread in deep sleep: one ring now makes it wake once and then sleep
    // lightly.
    if (server_bell_.is_asleep()) server_bell_.ring();
  }
  // Like leave, for a thread that has driven the engine and may now compute or sleep.
  void leave_to_server() LAPSE_RELEASE(mutex_, progress_role);
  // Handles one packet, or the failure to allocate memory for one; false if there is none.
  bool poll_packet() LAPSE_REQUIRES(progress_role);
  // Calls the client if its deadline has passed; true if so.
  bool meet_deadline() LAPSE_REQUIRES(progress_role);
  // Asks the client for its deadline; wakes the server thread if it might sleep past it.
  void update_deadline() LAPSE_REQUIRES(progress_role);
  // `limit`, or the time until the deadline if that is shorter.
  static std::chrono::microseconds until_deadline(std::chrono::microseconds limit, Clock::rep deadline);
  std::chrono::microseconds until_deadline(std::chrono::microseconds limit) const {
    return until_deadline(limit, deadline_.load(std::memory_order_relaxed));
  }
  std::chrono::microseconds sleep_limit(IdlePolicy& idle) const {
    if (!settings_.polling) return kLongSleep;
    return settings_.senders_ring ? idle.sleep_length(kLongSleep) : idle.sleep_length();
  }
  // One turn if the lock is free; true if something was done or another thread holds the lock.
  bool poll_once() LAPSE_EXCLUDES(progress_role);
  // Drives turns while there are submissions that no other thread would see.
  void drive_submissions() LAPSE_EXCLUDES(progress_role);
  // Where processors are scarce, lets others run now and then while a thread computes and helps repeatedly. A
  // thread that never waits loses its processor only at the end of its slice, after milliseconds; every
  // message would take as long.
  void give_way();
  void wake_sleeper() {
    if (sleeper_.load(std::memory_order_relaxed) == nullptr) return;
    if (Doorbell* bell = sleeper_.exchange(nullptr, std::memory_order_relaxed)) bell->ring();
  }
  // If processors are scarce and rings announce the messages, no waiting thread polls while others compute.
  // Deadlines are left to the server thread too.
  bool leaves_all_to_server(WaitFor what) const {
    return what == WaitFor::workers && settings_.crowded && (settings_.senders_ring || !settings_.polling);
  }
  // Sleeps until the bell rings, at most `limit`, unless done() is true or there was work. Meanwhile the
  // server thread handles the messages, so its sleep must not be light. If the server thread and the worker
  // announce their sleeps at the same time, at least one sees the other.
  template <class Done>
  void sleep_beside_server(Doorbell& bell, std::chrono::microseconds limit, Done&& done)
      LAPSE_EXCLUDES(progress_role) {
    resting_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // A message that arrived during the server thread's light sleep did not wake it.
    const bool found = settings_.helping && server_bell_.deepen() && poll_once();
    if (!found) bell.sleep(limit, done);
    resting_.fetch_sub(1, std::memory_order_relaxed);
  }
  // No worker helps now, and at least one leaves all messages to the server thread.
  bool must_listen() const { return resting_.load(std::memory_order_relaxed) > 0 && !help_.has_helpers(); }
  void pause(IdlePolicy::Step step) {
    if (step == IdlePolicy::Step::yield) std::this_thread::yield();
  }

  // constant
  Transport& transport_;
  EngineClient& client_;
  Settings settings_;
  Transport::Handler deliver_;
  std::thread::id sole_driver_;  // constant while threads wait or serve
  // self-synchronised
  SubmissionQueue queue_;
  Doorbell own_bell_;
  Doorbell& server_bell_;  // the transport's, if it has one
  HelpRecord help_;
  std::atomic<std::int32_t> resting_{0};           // workers that sleep in wait
  std::atomic<Clock::rep> deadline_{kNoDeadline};  // the client's, since the clock's epoch; by lock holders
  std::atomic<Clock::rep> gave_way_{0};            // when a helper did so last
  std::atomic<Doorbell*> sleeper_{nullptr};        // of the sleeping waiters, the last to fall asleep
  Mutex mutex_;                                    // the progress lock
  // guarded by the progress lock
  EngineCounters counters_ LAPSE_GUARDED_BY(progress_role);
  bool holds_packets_ LAPSE_GUARDED_BY(progress_role) = false;  // the client has left some to the next turn
};

}  // namespace lapse

#include "lapse/transport/engine/progress_engine_inline.hpp"

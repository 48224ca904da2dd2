// The groups in the slots of one rank.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/protocol/group/slot_messages.hpp"
#include "lapse/ps/access/phase.hpp"
#include "lapse/ps/access/worker_group.hpp"
#include "lapse/ps/phase/seat_runner.hpp"
#include "lapse/ps/phase/slot_control.hpp"
#include "lapse/ps/phase/slot_threads.hpp"

namespace lapse {

// Seats the workers of groups, each in a slot whose thread runs it, and notices when they have left.
//
// Thread safety: made, begun and destroyed by the server's thread; has_ended and is_idle by any thread, other
// functions by the holder of the progress lock.
//
// Invariants:
// 1. A slot has one worker at most: from seat() until its thread has submitted that the worker has left, and
//    that is handled. What the worker has submitted before is handled then, too.
// 2. A group's part of collective calls lives until retire(): frames of its other ranks find it.
class SlotGroups final : public Slots, private SlotMessages::Receiver, private SubmissionHandler {
 public:
  // `all`: the phase that was agreed on; its workers are the slots. `helping`: their threads may drive the
  // engine. `last`: of the groups that have begun.
  // `end_child`: ends a child that fork has made in a worker's function, after what it has thrown.
  SlotGroups(const Phase& all, bool helping, SeatRunner& runner, SlotThreads& threads, SlotControl& control,
             GroupNumber last, std::function<void(std::exception_ptr)> end_child);
  ~SlotGroups();
  SlotGroups(const SlotGroups&) = delete;
  SlotGroups& operator=(const SlotGroups&) = delete;

  // Of the server's thread: the control begins, in a turn of the engine. What it throws ends the phase.
  void begin() LAPSE_EXCLUDES(progress_role) { engine_.submit(begin_); }
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  // No slot has a worker.
  bool is_idle() const { return busy_.load(std::memory_order_acquire) == 0; }
  // The highest number of a group; when the phase has ended.
  GroupNumber last() const { return last_; }

  // --- Slots
  Rank rank() const override { return all_.rank; }
  std::int32_t ranks() const override { return all_.ranks; }
  void send(Rank to, std::span<const std::byte> message) override LAPSE_REQUIRES(progress_role);
  void seat(GroupInSlots group) override LAPSE_REQUIRES(progress_role);
  void abort(GroupNumber number, const std::string& text) override LAPSE_REQUIRES(progress_role);
  void retire(GroupNumber number) override LAPSE_REQUIRES(progress_role);
  void end(GroupNumber last) override LAPSE_REQUIRES(progress_role);
  void submit(Submission& submission) override;

 private:
  struct Group {
    Group(RankProtocol& protocol, ProgressEngine& engine, RankGroup& its_group)
        : group(its_group), workers(protocol, engine, its_group) {}

    RankGroup& group;
    WorkerGroup workers;
    std::optional<Phase> phase;  // refers to `workers`
    std::function<void(Worker&)> work;
    std::size_t left = 0;  // workers that have not left
    GroupPartEnd end;
  };
  // Submitted when its worker has left.
  struct Slot : Submission {
    std::size_t number = 0;
    Group* group = nullptr;  // null: the slot is free
    GroupFailureReport report;
    std::vector<TableCounters> counted;  // before
    std::chrono::nanoseconds time{};     // of its worker
  };

  void handle_message(Rank from, std::span<const std::byte> message) override LAPSE_REQUIRES(progress_role);
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_left(Slot& slot) LAPSE_REQUIRES(progress_role);
  // The work of a slot's thread.
  void run(std::size_t number);
  // Drives the engine for a while, as the next group often begins soon, and this thread may notice it first.
  void help_next(std::size_t number);
  void make_free(Slot& slot) LAPSE_REQUIRES(progress_role);
  WorkerEndpoint& endpoint(std::size_t slot) const { return *protocol_.registry().workers()[slot]; }

  const Phase all_;
  const bool helping_;
  RankProtocol& protocol_;
  ProgressEngine& engine_;
  SeatRunner& runner_;
  SlotThreads& threads_;
  SlotControl& control_;
  const SlotThreads::Job job_;
  Submission begin_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::map<GroupNumber, std::unique_ptr<Group>> groups_;  // not retired
  GroupNumber last_;
  std::atomic<std::size_t> busy_{0};
  std::atomic<bool> ended_{false};
};

}  // namespace lapse

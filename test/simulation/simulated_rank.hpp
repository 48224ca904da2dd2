// One rank of a simulation: the real protocol and real workers, run in single steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lapse/ps/access/phase.hpp"
#include "lapse/ps/tables/table_factory.hpp"
#include "lapse/ps/worker.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/simulation/refusals.hpp"
#include "test/simulation/scenario.hpp"
#include "test/support/random_intents.hpp"
#include "test/support/random_policy.hpp"
#include "test/support/random_workload.hpp"
#include "test/support/random_workload_assignments.hpp"
#include "test/support/random_workload_counters.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

namespace lapse::test {

// The histories of all workers of a simulation.
struct Histories {
  Histories(const Scenario& scenario);

  CounterLayout layout;
  LiveCounters live;
  std::vector<CounterLog> counters;        // by worker
  std::vector<AssignmentLog> assignments;  // by worker
  std::vector<RefusalLog> with_failures;   // by worker; replaces `counters` until the end
  std::shared_ptr<Refusals> refusals;      // null: no refusals
};

// Lets other events happen in the middle of an engine step, as threads would: when the protocol asks for a
// buffer, it holds no latch, and its state is consistent.
class InterruptedTransport final : public BorrowedTransport {
 public:
  InterruptedTransport(Transport& transport, std::function<void()> interrupt,
                       std::optional<std::size_t> packet_bytes)
      : BorrowedTransport(transport), interrupt_(std::move(interrupt)), packet_bytes_(packet_bytes) {}
  std::size_t packet_bytes(Rank to) const override {
    return packet_bytes_ ? *packet_bytes_ : BorrowedTransport::packet_bytes(to);
  }
  PacketBuffer acquire_buffer() override {
    interrupt_();
    return BorrowedTransport::acquire_buffer();
  }
  // The simulation delivers packets itself.
  std::size_t poll(const Handler&, std::size_t) override { return 0; }

 private:
  std::function<void()> interrupt_;
  std::optional<std::size_t> packet_bytes_;
};

// The clock of one rank. It advances with the steps of the rank, and jumps to the next deadline when the
// simulation draws that event.
class SimulatedTime final : public TimeSource {
 public:
  Clock::time_point now() const override { return now_; }
  void pass() { now_ += std::chrono::microseconds(1); }
  void advance_to(Clock::time_point time) { now_ = std::max(now_, time); }

 private:
  Clock::time_point now_{std::chrono::hours(1)};
};

// Has two tables: table 0 counts, table 1 assigns. Used by one thread.
class SimulatedRank {
 public:
  // `interrupt` is called in the middle of engine steps; it may let workers of this rank step.
  SimulatedRank(Transport& transport, const Scenario& scenario, const Router& router,
                std::size_t first_worker, Histories& histories, std::function<void()> interrupt);
  SimulatedRank(const SimulatedRank&) = delete;
  SimulatedRank& operator=(const SimulatedRank&) = delete;

  static constexpr std::size_t kTables = 2;

  // --- steps
  std::size_t workers() const { return workloads_.size(); }
  RandomWorkload& workload(std::size_t worker) { return *workloads_[worker]; }
  // Whether all workers are.
  bool finished() const {
    return std::ranges::all_of(workloads_, [](const auto& workload) { return workload->finished(); });
  }
  // The worker makes its next call. What it submits waits in the rank's queue, or is carried out at once.
  void step_worker(std::size_t worker);
  // Waiting submissions, oldest first.
  std::size_t waiting_submissions() const { return submissions_.size(); }
  void handle_submission();
  void handle_packet(Rank from, std::span<const std::byte> packet);
  // One of the rank's remote reads copies the memory, or is delivered.
  void advance_read(LoopbackNetwork& network, std::size_t index);
  // The protocol's next deadline passes.
  void handle_deadline();
  // A round of the rank begins: it forwards intents, and sends what has changed; also what is sent at clocks
  // only, if the run `ends`.
  void begin_round(bool ends);
  // Whether a round would have work.
  bool round_due() const;
  // The engine's turn ends: its packets are sent.
  bool in_turn() const { return in_turn_; }
  void end_turn();

  // --- inspection
  TableShard& table(std::size_t number) { return *protocol_.registry().tables()[number]; }
  const RankProtocol& protocol() const { return protocol_; }
  const RandomIntents& intents() const { return intents_; }
  // Throws ProtocolError if some state of the workers' operations is left.
  void check_at_rest() const;

 private:
  void create_table(const Scenario& scenario, ElementType type, const UpdateRule& rule, std::size_t length,
                    bool own_lengths, Refusals* refusals);
  void expose_owners(const Scenario& scenario, TableShard& table);
  std::optional<SharedTablePart> share(const Scenario& scenario, const SharedTableLayout::Request& request);
  void add_worker(const Scenario& scenario, std::size_t index, Histories& histories);
  std::vector<std::size_t> workers_of_domain(const Scenario& scenario) const;
  // The group of one of this rank's workers.
  std::size_t group_of(std::size_t worker) const { return (phase_.first_worker + worker) % phases_.size(); }
  // In slots, this rank hears of a group, and seats its workers later, when the first of them begins.
  void begin(std::size_t group);
  void seat(std::size_t group);
  // Called when an engine step begins.
  void begin_step();

  InterruptedTransport transport_;
  PrivateRegionAllocator regions_;
  ScarceRegionAllocator scarce_regions_;
  std::deque<std::vector<OwnershipTable::Entry>> wrong_owners_;
  DomainMap domains_;
  Options options_;
  Logger logger_;
  SimulatedTime time_;
  RankProtocol protocol_;
  ProgressEngine engine_;
  WorkerGroup group_;
  Phase phase_;
  std::vector<Phase> phases_;  // by group
  RandomIntents intents_;
  RandomPolicy policy_;
  std::deque<Submission*> submissions_;
  bool in_turn_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Worker>> shadows_;  // second handles, for calls that the library forbids
  std::vector<std::unique_ptr<TableClient>> clients_;
  std::vector<std::unique_ptr<RandomWorkload>> workloads_;
  // In slots, of each worker.
  struct Leaving : Submission, SubmissionHandler {
    Leaving(Levels& its_levels, std::uint64_t its_group, WorkerEndpoint& its_worker)
        : levels(its_levels), group(its_group), worker(its_worker) {
      handler = this;
    }
    void handle_submission(Submission&) override LAPSE_REQUIRES(progress_role) {
      levels.leave(group, worker);
    }
    Levels& levels;
    const std::uint64_t group;
    WorkerEndpoint& worker;
    bool has_left = false;
  };
  std::deque<Leaving> leaving_;
  std::vector<bool> seated_;  // by group
};

}  // namespace lapse::test

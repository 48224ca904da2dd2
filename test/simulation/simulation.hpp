// The whole protocol on a few ranks in one thread. A seed determines the order of events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/simulation/scenario.hpp"
#include "test/simulation/simulated_rank.hpp"

namespace lapse::test {

// A violated invariant.
class InvariantViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A step is one of: a worker makes a call; an engine handles one submission; one packet is delivered; a
// remote read copies the memory, or is delivered; a rank begins a round; an engine's turn ends. Every choice
// and every random number is derived from the scenario's seed: the same scenario gives the same run.
//
// After each step, for each key: at most one domain is owner (I1), and the domain in the home's table is
// owner or arriving. During the run, every answer is checked against the history (I3, I4, I5). At the end,
// when no event is possible: everything is answered, no state is left on any rank, every key has exactly one
// owner, which its home's table names (I1), replicas equal their owners' values, and all histories are
// consistent (I2 to I5).
class Simulation {
 public:
  struct Failures {
    std::uint64_t calls = 0;
    std::uint64_t localizes = 0;
    std::uint64_t leases = 0;
  };

  // Delivered frames with runs of operations.
  struct Runs {
    std::uint64_t frames = 0;
    std::uint64_t keys = 0;
    std::uint64_t continued = 0;  // frames that do not begin with the first key of their operation
  };

  // Delivered frames, by kind.
  using Frames = std::array<std::uint64_t, kFrameKinds>;

  // `fault` changes received records; null: none. It outlives the simulation.
  Simulation(const Scenario& scenario, const Router& router, const FrameFault* fault = nullptr);

  // Runs to the end. Throws InvariantViolation, HistoryViolation, ProtocolError.
  void run();
  // Steps made so far.
  std::uint64_t steps() const { return steps_; }
  // Sums over all ranks.
  TableCounters counters() const;
  // Calls, localizes and leases that failed, as allowed.
  Failures failures() const;
  const Runs& runs() const { return runs_; }
  const Frames& frames() const { return frames_; }
  // Replicas left at the end, of keys that are wanted without an end.
  std::size_t replicas() const { return replicas_; }
  // Calls sink(text) for every step.
  void trace_to(std::function<void(std::string)> sink) { sink_ = std::move(sink); }

 private:
  enum class Actor { worker, submission, packet, read, deadline, round, end_turn };
  struct Choice {
    Actor actor;
    std::size_t rank;
    std::size_t index;  // of the worker, of the network's choice, or of the read
  };

  bool step();
  void collect_choices();
  const Choice& draw();
  void carry_out(const Choice& choice);
  void deliver(const LoopbackNetwork::Choice& choice);
  void handle_faulty(Rank from, Rank to, std::span<const std::byte> packet);
  // In the middle of an engine step of the rank: lets workers of its domain, and engines of the domain's
  // other ranks, step.
  void interrupt(std::size_t rank);
  void end_turn_or_go_on(SimulatedRank& rank);
  void draw_speeds();
  void collect_packets();
  void add_rounds();
  void add_choice(const Choice& choice, std::uint32_t weight);
  template <class... Arguments>
  void trace(fmt::format_string<Arguments...> format, Arguments&&... arguments);

  void count_frames(std::span<const std::byte> packet);
  void check_ownership(bool at_rest);
  // What some copy of table 0 lacks of a worker's pushes is within the table's bound.
  void check_copies();
  // Checks that a run of keys takes the route that the router gives each key alone.
  void check_routes(Key key, std::size_t number);
  void check_replicas();
  // Checks that the only domain that wants a key owns it, in runs where each policy decides correctly.
  void check_only_domains(std::span<const TableShard* const> shards, std::span<const Key> keys,
                          const std::function<bool(Domain, Key)>& wants) const;
  void check_end();

  const Scenario scenario_;
  const FrameFault* const fault_;
  const DomainMap domains_;
  RandomEngine random_;
  LoopbackNetwork network_;
  Histories histories_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
  std::uint64_t steps_ = 0;
  std::size_t rounds_ = 0;
  std::size_t lonely_steps_ = 0;  // since an event other than a round was possible
  Runs runs_;
  Frames frames_{};
  std::size_t replicas_ = 0;
  bool interrupted_ = false;
  std::function<void(std::string)> sink_;

  // Relative speeds, redrawn from time to time: by worker, by rank, and by sender, receiver and lane.
  std::vector<std::uint32_t> worker_speed_;
  std::vector<std::uint32_t> engine_speed_;
  std::vector<std::uint32_t> network_speed_;
  std::uint64_t next_speeds_ = 0;

  std::vector<Choice> choices_;
  std::vector<std::uint64_t> cumulated_;  // weights of choices_
};

}  // namespace lapse::test

#include "test/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "test/simulation/packet_text.hpp"

namespace lapse::test {

Simulation::Simulation(const Scenario& scenario, const Router& router, const FrameFault* fault)
    : scenario_(scenario),
      fault_(fault),
      domains_(scenario.domains()),
      random_(scenario.seed, 2),
      network_(scenario.ranks, scenario.separate_bulk_lane),
      histories_(scenario) {
  std::size_t first_worker = 0;
  for (std::int32_t rank = 0; rank < scenario.ranks; ++rank) {
    const auto interrupt = [this, index = static_cast<std::size_t>(rank)] { this->interrupt(index); };
    ranks_.push_back(std::make_unique<SimulatedRank>(network_.endpoint(Rank(rank)), scenario_, router,
                                                     first_worker, histories_, interrupt));
    first_worker += scenario.workers[static_cast<std::size_t>(rank)];
  }
  worker_speed_.assign(first_worker, 4);
  engine_speed_.assign(ranks_.size(), 4);
  network_speed_.assign(ranks_.size() * ranks_.size() * 2, 4);
  if (histories_.refusals) histories_.refusals->set_active(true);
}

void Simulation::run() {
  while (step()) {
    check_ownership(false);
    check_copies();
  }
  check_end();
}

template <class... Arguments>
void Simulation::trace(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (sink_)
    sink_(fmt::format("step {}: {}", steps_, fmt::format(format, std::forward<Arguments>(arguments)...)));
}

TableCounters Simulation::counters() const {
  TableCounters total;
  for (const auto& rank : ranks_) {
    for (std::size_t table = 0; table < SimulatedRank::kTables; ++table)
      total += rank->table(table).counters();
  }
  return total;
}

Simulation::Failures Simulation::failures() const {
  if (!histories_.refusals) return {};
  const Refusals& refusals = *histories_.refusals;
  return {refusals.failed_calls, refusals.failed_localizes, refusals.failed_leases};
}

// --- choosing

bool Simulation::step() {
  if (scenario_.biased && steps_ >= next_speeds_) draw_speeds();
  collect_choices();
  if (choices_.empty()) return false;
  carry_out(draw());
  ++steps_;
  return true;
}

void Simulation::draw_speeds() {
  constexpr std::array<std::uint32_t, 4> kSpeeds{1, 32, 1000, 1000};
  for (auto* speeds : {&worker_speed_, &engine_speed_, &network_speed_}) {
    for (std::uint32_t& speed : *speeds) speed = kSpeeds[random_.below(kSpeeds.size())];
  }
  next_speeds_ = steps_ + 20 + random_.below(200);
}

void Simulation::add_choice(const Choice& choice, std::uint32_t weight) {
  choices_.push_back(choice);
  cumulated_.push_back((cumulated_.empty() ? 0 : cumulated_.back()) + weight);
}

void Simulation::collect_choices() {
  choices_.clear();
  cumulated_.clear();
  std::size_t worker = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    SimulatedRank& simulated = *ranks_[rank];
    for (std::size_t local = 0; local < simulated.workers(); ++local, ++worker) {
      if (simulated.workload(local).may_step())
        add_choice({Actor::worker, rank, local}, worker_speed_[worker] * 8);
    }
    if (simulated.waiting_submissions() > 0)
      add_choice({Actor::submission, rank, 0}, 4 * engine_speed_[rank]);
    for (std::size_t read = 0; read < network_.reads_in_flight(Rank(static_cast<std::int32_t>(rank))); ++read)
      add_choice({Actor::read, rank, read}, network_speed_[2 * rank * ranks_.size()]);
    // Time is a choice, too: a deadline may pass at any step.
    if (simulated.protocol().next_deadline()) add_choice({Actor::deadline, rank, 0}, engine_speed_[rank]);
    if (simulated.in_turn()) add_choice({Actor::end_turn, rank, 0}, 4 * engine_speed_[rank]);
  }
  collect_packets();
  if (scenario_.replication) add_rounds();
}

void Simulation::collect_packets() {
  const std::span<const LoopbackNetwork::Choice> packets = network_.deliverable();
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::size_t pair = packets[i].from.index() * ranks_.size() + packets[i].to.index();
    const std::size_t lane = packets[i].lane == Transport::Lane::bulk ? 1 : 0;
    add_choice({Actor::packet, packets[i].to.index(), i}, network_speed_[2 * pair + lane]);
  }
}

// A rank may begin a round at any time. Once no other event is possible, only rounds with work are possible,
// rank by rank; the run is stuck if several rounds of each rank make no progress.
void Simulation::add_rounds() {
  constexpr std::size_t kStepsOfRank = 8;
  const bool lonely =
      std::ranges::all_of(choices_, [](const Choice& choice) { return choice.actor == Actor::end_turn; });
  lonely_steps_ = lonely ? lonely_steps_ + 1 : 0;
  if (lonely_steps_ > kStepsOfRank * ranks_.size()) return;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const std::size_t rank = (rounds_ + i) % ranks_.size();
    const std::uint32_t speed = engine_speed_[rank];
    const bool due = ranks_[rank]->round_due();
    if (lonely && due) return add_choice({Actor::round, rank, 0}, speed);
    if (!lonely)
      add_choice({Actor::round, rank, 0}, 1 + (due ? scenario_.replication->rounds : 1) * speed / 16);
  }
}

const Simulation::Choice& Simulation::draw() {
  const std::uint64_t drawn = random_.below(cumulated_.back());
  const auto place = std::ranges::upper_bound(cumulated_, drawn);
  return choices_[static_cast<std::size_t>(place - cumulated_.begin())];
}

// --- acting

void Simulation::carry_out(const Choice& choice) {
  SimulatedRank& rank = *ranks_[choice.rank];
  switch (choice.actor) {
    case Actor::worker:
      trace("rank {} worker {} steps", choice.rank, choice.index);
      rank.step_worker(choice.index);
      trace("    {}", rank.workload(choice.index).last_step());
      break;
    case Actor::submission:
      trace("rank {} handles a submission", choice.rank);
      rank.handle_submission();
      end_turn_or_go_on(rank);
      break;
    case Actor::packet:
      deliver(network_.deliverable()[choice.index]);
      end_turn_or_go_on(rank);
      break;
    case Actor::read:
      trace("rank {}: its remote read {} goes on", choice.rank, choice.index);
      rank.advance_read(network_, choice.index);
      if (rank.in_turn()) end_turn_or_go_on(rank);
      break;
    case Actor::deadline:
      trace("rank {}: its next deadline has come", choice.rank);
      rank.handle_deadline();
      end_turn_or_go_on(rank);
      break;
    case Actor::round:
      trace("rank {} begins a round", choice.rank);
      ++rounds_;
      rank.begin_round(std::ranges::all_of(ranks_, [](const auto& other) { return other->finished(); }));
      end_turn_or_go_on(rank);
      break;
    case Actor::end_turn:
      trace("rank {} sends", choice.rank);
      rank.end_turn();
      break;
  }
}

void Simulation::deliver(const LoopbackNetwork::Choice& choice) {
  const bool bulk = choice.lane == Transport::Lane::bulk;
  const std::size_t index = bulk ? random_.below(choice.count) : 0;
  const Rank to = choice.to;
  network_.deliver(
      choice,
      [&](Rank from, std::span<const std::byte> packet) {
        count_frames(packet);
        if (sink_) trace("{} -> {}: {}", from.value(), to.value(), describe_packet(packet));
        if (fault_ != nullptr) return handle_faulty(from, to, packet);
        ranks_[to.index()]->handle_packet(from, packet);
      },
      index);
}

void Simulation::count_frames(std::span<const std::byte> packet) {
  for_each_frame(packet, [&](const FrameHeader& header, const std::byte*) {
    ++frames_[header.kind];
    const auto kind = static_cast<FrameKind>(header.kind);
    if (kind < FrameKind::pull_run || kind > FrameKind::set_run) return;
    ++runs_.frames;
    runs_.keys += header.count;
    runs_.continued += header.domain > 0 ? 1 : 0;
  });
}

void Simulation::interrupt(std::size_t rank) {
  if (!scenario_.interruptions || interrupted_ || ranks_.size() <= rank || random_.below(2) == 0) return;
  interrupted_ = true;
  const auto members = domains_.members(domains_.domain_of(Rank(static_cast<std::int32_t>(rank))));
  const std::size_t other = members[members.size() == 1 ? 0 : random_.below(members.size())].index();
  SimulatedRank& simulated = *ranks_[other];
  if (other != rank && simulated.waiting_submissions() > 0 && random_.below(2) == 0) {
    trace("    meanwhile rank {} handles a submission", other);
    simulated.handle_submission();
  } else if (const std::size_t workers = simulated.workers(); workers > 0) {
    const std::size_t worker = random_.below(workers);
    if (simulated.workload(worker).may_step()) {
      trace("    meanwhile rank {} worker {} steps", other, worker);
      simulated.step_worker(worker);
      trace("    {}", simulated.workload(worker).last_step());
    }
  }
  interrupted_ = false;
}

void Simulation::end_turn_or_go_on(SimulatedRank& rank) {
  if (!scenario_.long_turns || random_.below(3) == 0) rank.end_turn();
}

}  // namespace lapse::test

#include "test/simulation/simulated_rank.hpp"

#include <fmt/format.h>

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse::test {

Histories::Histories(std::size_t workers, std::size_t keys) : layout{workers, 1}, live(workers, keys) {
  for (std::size_t worker = 0; worker < workers; ++worker) {
    counters.emplace_back(worker, workers, keys);
    assignments.emplace_back(worker, keys);
  }
}

SimulatedRank::SimulatedRank(Transport& transport, const Scenario& scenario, const Router& router,
                             std::size_t first_worker, Histories& histories, std::function<void()> interrupt)
    : transport_(transport, std::move(interrupt)),
      domains_(scenario.ranks, 1),
      logger_(transport.rank(), LogLevel::error),
      channel_(transport_, domains_, router),
      // Workers only submit; who drives the engine is decided from outside.
      engine_(transport_, channel_, {.idle = {}, .helping = false, .polling = true}),
      group_(channel_, engine_),
      phase_{this,
             channel_,
             engine_,
             group_,
             logger_,
             options_,
             transport.rank(),
             scenario.ranks,
             first_worker,
             scenario.workers[transport.rank().index()],
             scenario.all_workers()} {
  create_table(scenario, UpdateRule::add(), histories.layout.length());
  create_table(scenario, UpdateRule::assign(), Assignment::kLength);
  const Table<std::int64_t> counters(table(0), this);
  const Table<std::int64_t> assignments(table(1), this);
  for (std::size_t local = 0; local < phase_.local_workers; ++local) {
    const std::size_t index = first_worker + local;
    channel_.workers().push_back(std::make_unique<WorkerEndpoint>(static_cast<std::uint32_t>(local)));
    channel_.workers().back()->counters().resize(kTables);
    workers_.push_back(std::make_unique<Worker>(phase_, *channel_.workers().back()));
    Worker& worker = *workers_.back();
    clients_.push_back(std::make_unique<CounterClient<std::int64_t>>(
        worker, counters, histories.layout, histories.counters[index], &histories.live));
    clients_.push_back(std::make_unique<AssignmentClient>(worker, assignments, histories.assignments[index]));
    RandomEngine random(scenario.seed, 100 + index);
    const WorkloadSettings settings = WorkloadSettings::random(random, scenario.calls);
    workloads_.push_back(std::make_unique<RandomWorkload>(
        std::vector<TableClient*>{clients_[2 * local].get(), clients_[2 * local + 1].get()}, settings,
        random));
  }
}

void SimulatedRank::create_table(const Scenario& scenario, const UpdateRule& rule, std::size_t length) {
  const Domain self = domains_.domain_of(phase_.rank);
  const ValueLayout layout{element_type<std::int64_t>(), length};
  const TableId id(static_cast<std::uint32_t>(channel_.tables().size()));
  auto table = std::make_unique<TableState>(id, fmt::format("table {}", id.value()), scenario.home_map(self),
                                            layout, rule, scenario.location_caches, regions_, scenario.keys);
  table->home_map.for_each_own_key(
      [&](Key key) { std::memset(table->store.create(key), 0, layout.value_bytes()); });
  channel_.tables().push_back(std::move(table));
}

void SimulatedRank::step_worker(std::size_t worker) {
  workloads_[worker]->step();
  Submission* submission = nullptr;
  engine_.exclusively([&] { submission = engine_.take_submissions(); });
  for (; submission != nullptr; submission = submission->next) submissions_.push_back(submission);
}

void SimulatedRank::handle_submission() {
  Submission& submission = *submissions_.front();
  submissions_.pop_front();
  in_turn_ = true;
  submission.handler->handle_submission(submission);
}

void SimulatedRank::handle_packet(Rank from, std::span<const std::byte> packet) {
  in_turn_ = true;
  channel_.handle_packet(from, packet);
}

void SimulatedRank::end_turn() {
  in_turn_ = false;
  channel_.end_turn();
}

void SimulatedRank::check_at_rest() const {
  const auto check = [this](bool condition, const char* what) {
    if (!condition) throw ProtocolError(fmt::format("at rest, rank {} {}", phase_.rank.value(), what));
  };
  check(submissions_.empty(), "has submissions that nobody handled");
  check(channel_.passive(), "has operations that wait for a route, keys under way, or unsent messages");
  for (const auto& endpoint : const_cast<Channel&>(channel_).workers()) {
    check(endpoint->open() == 0 && endpoint->open_bytes() == 0, "has a worker with unanswered operations");
    check(endpoint->unanswered().total() == 0, "has a worker with keys that count as unanswered");
  }
}

}  // namespace lapse::test

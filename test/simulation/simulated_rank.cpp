#include "test/simulation/simulated_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/transport/host/shared_memory.hpp"
#include "lapse/transport/rma/remote_reads.hpp"
#include "test/simulation/refusal_client.hpp"
#include "test/support/summed_gradients.hpp"

namespace lapse::test {

Histories::Histories(const Scenario& scenario)
    : layout{scenario.counter_rules().elements(scenario.all_workers()), 1},
      live(scenario.all_workers(), scenario.shape.keys, scenario.counter_rules()) {
  const std::uint64_t keys = scenario.shape.keys;
  const std::size_t workers = scenario.all_workers();
  if (const auto staleness = scenario.consistency.staleness())
    live.set_clock_bound(*staleness, scenario.clock_groups);
  for (std::size_t worker = 0; worker < workers; ++worker) {
    counters.emplace_back(worker, workers, keys, scenario.counter_rules());
    assignments.emplace_back(worker, keys);
    with_failures.emplace_back(keys);
  }
  if (scenario.refusals) {
    refusals = std::make_shared<Refusals>(scenario.seed, scenario.initialiser_chance, scenario.memory_chance,
                                          keys, !scenario.shape.sparse);
  }
}

SimulatedRank::SimulatedRank(Transport& transport, const Scenario& scenario, const Router& router,
                             std::size_t first_worker, Histories& histories, std::function<void()> interrupt)
    : transport_(transport, std::move(interrupt), scenario.packet_bytes),
      domains_(scenario.domains()),
      logger_(transport.rank(), LogLevel::error),
      protocol_(transport_, router, time_),
      // Where workers do not carry out their calls themselves, they only submit them; the simulation decides
      // when the engine runs.
      engine_(transport_, protocol_, {.idle = {}, .helping = scenario.direct_calls, .polling = true}),
      group_(protocol_, engine_, protocol_.groups().all()),
      phase_{.server = this,
             .protocol = protocol_,
             .engine = engine_,
             .group = group_,
             .logger = logger_,
             .options = options_,
             .rank = transport.rank(),
             .ranks = scenario.ranks,
             .first_worker = first_worker,
             .local_workers = scenario.workers[transport.rank().index()],
             .workers = scenario.all_workers()},
      phases_(scenario.clock_groups, phase_),
      policy_(scenario.replication ? scenario.replication->technique : Technique::adaptive,
              {scenario.counter_rules().eventual, false}, scenario.seed + phase_.first_worker) {
  transport_.shared_memory()->join_group(domains_.domain_of(transport.rank()).value());
  const bool gradients = scenario.replication && scenario.replication->gradients;
  create_table(scenario, ElementType::float64,
               gradients ? UpdateRule::custom<double>(SummedGradients<double>{}) : UpdateRule::add(),
               histories.layout.length(), scenario.shape.own_lengths, histories.refusals.get());
  create_table(scenario, ElementType::int64, UpdateRule::assign(), Assignment::kLength, false, nullptr);
  scarce_regions_.set_refusals(histories.refusals);
  protocol_.registry().add(make_function<double, CountArgument, CountResult>("count", &count<double>));
  if (scenario.replication) {
    protocol_.replication().set_times({.interval = std::nullopt,  // Rounds are separate events.
                                       .least = {},
                                       .credit_bytes = scenario.replication->credit_bytes});
    protocol_.replication().set_policy(&policy_);
    protocol_.replication().set_source(&intents_);
  }
  protocol_.registry().prepare_workers(phase_.local_workers, first_worker);
  progress_role.assert_held();  // One thread does everything.
  protocol_.levels().start(scenario.groups, 0, scenario.groups == Levels::Groups::joining);
  protocol_.budgets().start();
  seated_.assign(phases_.size(), true);
  for (std::size_t group = 0; group < phases_.size(); ++group) {
    if (scenario.groups == Levels::Groups::all_workers || scenario.groups == Levels::Groups::joining) {
      phases_[group].levels = &protocol_.levels().all();
    } else if (scenario.groups == Levels::Groups::together) {
      seat(group);
    }
  }
  for (std::size_t local = 0; scenario.groups == Levels::Groups::in_slots && local < phase_.local_workers;
       ++local) {
    const std::size_t group = group_of(local);
    if (phases_[group].levels != nullptr) continue;
    // Some ranks hear of a group by its seats, others by a message.
    seated_[group] = scenario.ranks == 1 || (scenario.seed + group + phase_.rank.index()) % 3 == 0;
    if (seated_[group]) {
      seat(group);
    } else {
      begin(group);
    }
  }
  for (std::size_t local = 0; local < phase_.local_workers; ++local)
    add_worker(scenario, first_worker + local, histories);
}

void SimulatedRank::begin(std::size_t group) {
  const Rank root(0);
  const bool is_root = phase_.rank == root;
  FrameHeader header = FrameHeader::of(is_root ? FrameKind::level_up : FrameKind::level_down, 0, 1 + group);
  header.count = 1;
  header.record_bytes = sizeof(LevelReport);
  const LevelReport none;
  progress_role.assert_held();  // One thread does everything.
  protocol_.levels().handle_frame(is_root ? Rank(1) : *LevelTree(phase_.ranks, phase_.rank).parent(), header,
                                  reinterpret_cast<const std::byte*>(&none));
  phases_[group].levels = protocol_.levels().find(1 + group);
}

void SimulatedRank::seat(std::size_t group) {
  std::vector<WorkerEndpoint*> workers;
  for (std::size_t local = 0; local < phase_.local_workers; ++local)
    if (group_of(local) == group) workers.push_back(protocol_.registry().workers()[local].get());
  for (WorkerEndpoint* const worker : workers)
    worker->take_seat({.group = 1 + group, .number = worker->seat().number});
  progress_role.assert_held();  // One thread does everything.
  const std::size_t all = (phase_.workers + phases_.size() - 1 - group) / phases_.size();
  phases_[group].levels = &protocol_.levels().seat(1 + group, workers, all);
  seated_[group] = true;
}

void SimulatedRank::add_worker(const Scenario& scenario, std::size_t index, Histories& histories) {
  const Table<double> counters(table(0), this);
  const Table<std::int64_t> assignments(table(1), this);
  const CountFunction<double> function(*protocol_.registry().functions()[0], this);
  WorkerEndpoint& endpoint = *protocol_.registry().workers()[index - phase_.first_worker];
  const std::size_t group = group_of(index - phase_.first_worker);
  const Phase& phase = phases_[group];
  if (scenario.groups == Levels::Groups::in_slots)
    leaving_.emplace_back(protocol_.levels(), 1 + group, endpoint);
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(Seat{phase, endpoint}));
  TableShape plain = scenario.shape;
  plain.own_lengths = false;
  if (histories.refusals) {
    clients_.push_back(std::make_unique<RefusalClient>(worker, counters, function, scenario.shape,
                                                       histories.layout, index,
                                                       histories.with_failures[index], *histories.refusals));
  } else {
    clients_.push_back(std::make_unique<CounterClient<double>>(worker, counters, function, scenario.shape,
                                                               histories.layout, histories.counters[index],
                                                               &histories.live));
  }
  clients_.push_back(
      std::make_unique<AssignmentClient>(worker, assignments, plain, histories.assignments[index]));
  LeasePlay::WrongCall wrong_call;
  if (scenario.holders_wait) {
    Worker& shadow = *shadows_.emplace_back(std::make_unique<Worker>(Seat{phase, endpoint}));
    wrong_call = [&shadow, counters, shape = scenario.shape](Key key) {
      return std::make_unique<PendingCall>(shadow.localize(counters, shape.name(key)));
    };
  }
  RandomEngine random(scenario.seed, 100 + index);
  const WorkloadSettings settings = scenario.workload(random);
  std::vector<TableClient*> clients(scenario.replication ? scenario.replication->counter_clients : 1,
                                    clients_[clients_.size() - 2].get());
  clients.push_back(clients_.back().get());
  workloads_.push_back(std::make_unique<RandomWorkload>(
      std::move(clients), settings, random,
      std::make_unique<LeasePlay>(worker, LeasePlay::Waiting::steps, std::move(wrong_call)),
      scenario.replication ? std::make_unique<IntentPlay>(intents_, scenario.replication->leaves_some)
                           : nullptr,
      std::make_unique<SyncPlay>(worker, histories.live, workers_of_domain(scenario)),
      scenario.consistency.staleness()
          ? std::make_unique<ClockPlay>(worker, histories.live, scenario.calls_of_clock,
                                        scenario.groups == Levels::Groups::joining)
          : nullptr));
}

std::vector<std::size_t> SimulatedRank::workers_of_domain(const Scenario& scenario) const {
  std::vector<std::size_t> numbers;
  std::size_t number = 0;
  for (std::int32_t rank = 0; rank < scenario.ranks; ++rank) {
    const bool is_member = domains_.domain_of(Rank(rank)) == domains_.domain_of(phase_.rank);
    for (std::size_t left = scenario.workers[static_cast<std::size_t>(rank)]; left > 0; --left, ++number)
      if (is_member) numbers.push_back(number);
  }
  return numbers;
}

void SimulatedRank::create_table(const Scenario& scenario, ElementType type, const UpdateRule& rule,
                                 std::size_t length, bool own_lengths, Refusals* refusals) {
  TableOptions options;
  TableShape shape = scenario.shape;
  shape.own_lengths = own_lengths;
  shape.apply(options, length);
  if (scenario.counter_rules().eventual && protocol_.registry().tables().empty())
    options.consistency = scenario.consistency;
  options.name = fmt::format("table {}", protocol_.registry().tables().size());
  options.update_rule = rule;
  // Without a limit each sparse table would read how much memory the machine has left, which takes a third of
  // a simulation's time.
  if (scenario.shape.sparse) options.memory_limit_bytes = 64 << 20;
  if (refusals != nullptr && scenario.shape.sparse) {
    options.initialiser = refusals->initialiser();
    if (scenario.max_keys) options.max_keys = scenario.max_keys;
  }
  // Only table 0 lacks memory.
  const TableFactory factory(refusals != nullptr ? static_cast<RegionAllocator&>(scarce_regions_) : regions_,
                             transport_);
  const auto& tables = protocol_.registry().tables();
  TableFactory::Plan plan = factory.plan(options, type, scenario.location_caches, tables);
  HomeMap homes = scenario.home_map(domains_, domains_.domain_of(phase_.rank));
  std::optional<SharedTablePart> part;
  if (domains_.members(homes.self()).size() > 1)
    part = share(scenario, factory.request(plan, homes, domains_));
  TableShard& table = protocol_.registry().add(
      factory.make(std::move(plan), TableId(static_cast<std::uint32_t>(tables.size())),
                   {.domains = domains_, .rank = phase_.rank, .homes = std::move(homes)}, part));
  if (scenario.lookups && table.may_look_up_owners()) expose_owners(scenario, table);
}

void SimulatedRank::expose_owners(const Scenario& scenario, TableShard& table) {
  std::span<const OwnershipTable::Entry> owners = table.owners();
  if (scenario.wrong_owners) {
    // Any number may be read: domains, and numbers below and above them.
    RandomEngine random(scenario.seed, 10 + phase_.rank.index());
    auto& wrong = wrong_owners_.emplace_back(owners.size());
    for (OwnershipTable::Entry& entry : wrong)
      entry.owner =
          Domain(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(scenario.ranks) + 4)) - 2);
    owners = wrong;
  }
  table.set_exposed_owners(transport_.remote_reads()->expose(std::as_bytes(owners)));
}

std::optional<SharedTablePart> SimulatedRank::share(const Scenario& scenario,
                                                    const SharedTableLayout::Request& request) {
  SharedTableLayout layout = SharedTableLayout::plan(request, transport_.shared_memory()->free_bytes());
  // A rank's part holds one value of each size; its private memory stores the other values.
  if (scenario.little_memory) {
    for (SharedTableLayout::Part& part : layout.parts) part.units = std::min<std::uint64_t>(part.units, 2);
  }
  std::byte* const base = transport_.shared_memory()->allocate(layout.total_bytes());
  SharedTablePart part(
      base, layout, static_cast<std::size_t>(domains_.position(phase_.rank)), request.home_keys,
      [] { return std::size_t{0}; }, [] {});
  if (!part.commit(domains_.domain_of(phase_.rank))) throw OutOfMemory("a simulation's shared memory");
  return part;
}

void SimulatedRank::step_worker(std::size_t worker) {
  if (const std::size_t group = group_of(worker); !seated_[group]) {
    begin_step();
    seat(group);
  }
  workloads_[worker]->step();
  Submission* submission = nullptr;
  engine_.exclusively([&] { submission = engine_.take_submissions(); });
  for (; submission != nullptr; submission = submission->next) submissions_.push_back(submission);
  if (leaving_.empty() || !workloads_[worker]->finished() || leaving_[worker].has_left) return;
  leaving_[worker].has_left = true;
  WorkerCore::end_clock(workers_[worker]->core().seat());
  submissions_.push_back(&leaving_[worker]);
}

void SimulatedRank::begin_step() {
  in_turn_ = true;
  time_.pass();
}

void SimulatedRank::handle_submission() {
  Submission& submission = *submissions_.front();
  submissions_.pop_front();
  begin_step();
  submission.handler->handle_submission(submission);
}

void SimulatedRank::handle_packet(Rank from, std::span<const std::byte> packet) {
  begin_step();
  protocol_.handle_packet(from, packet);
}

void SimulatedRank::advance_read(LoopbackNetwork& network, std::size_t index) {
  if (network.advance_read(phase_.rank, index)) begin_step();
}

void SimulatedRank::handle_deadline() {
  begin_step();
  time_.advance_to(protocol_.next_deadline().value());
  protocol_.handle_deadline(time_.now());
}

void SimulatedRank::begin_round(bool ends) {
  begin_step();
  protocol_.replication().round(time_.now(), !ends);
}

bool SimulatedRank::round_due() const {
  return intents_.pending() || !protocol_.idle(IdleLevel::synced);
}

void SimulatedRank::end_turn() {
  in_turn_ = false;
  protocol_.end_turn();
}

void SimulatedRank::check_at_rest() const {
  const auto check = [this](bool condition, const char* what) {
    if (!condition)
      throw ProtocolError(fmt::format("after quiescing, rank {} {}", phase_.rank.value(), what));
  };
  check(submissions_.empty(), "has submissions that were not handled");
  check(protocol_.idle(IdleLevel::synced) && protocol_.outbox().empty(),
        "has operations that wait for a route, keys in flight, or unsent messages");
  for (const auto& endpoint : protocol_.registry().workers()) {
    check(endpoint->open() == 0 && endpoint->open_bytes() == 0, "has a worker with unanswered operations");
    check(endpoint->unanswered().total() == 0, "has a worker with keys that count as unanswered");
    const GroupLevels* const levels = protocol_.levels().find(endpoint->seat().group);
    check(levels == nullptr || endpoint->level().wanted() <= levels->visible(),
          "has a worker that waits for copies");
  }
  check(leaving_.empty() || protocol_.levels().size() == 0, "has levels of a group that has ended");
}

}  // namespace lapse::test

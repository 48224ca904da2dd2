#include "lapse/ps/parameter_server_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/ps/reduction.hpp"
#include "lapse/ps/table_spec.hpp"
#include "lapse/store/available_memory.hpp"

namespace lapse {

ProgressEngine::Settings ParameterServer::Impl::engine_settings(const Options& options,
                                                                const Topology& topology,
                                                                const Transport& transport, bool helping) {
  ProgressEngine::Settings settings;
  settings.helping = helping && options.helping == Helping::on;
  settings.polling = transport.ranks() > 1;
  settings.idle.spin = options.progress_spin;
  settings.idle.sleep_min = options.progress_sleep_min;
  settings.idle.sleep_max = options.progress_sleep_max;
  // Whoever looks without pause takes the core from the rank it waits for, unless there is one for everybody.
  if (static_cast<std::size_t>(transport.host_ranks()) > topology.usable_hardware_threads) {
    settings.idle.looks_per_yield = 0;
  }
  return settings;
}

ParameterServer::Impl::Impl(std::unique_ptr<Transport> transport, const Options& options, bool helping)
    : options_(options),
      logger_(transport->rank(), options.log_level),
      transport_(std::move(transport)),
      topology_(Topology::detect()),
      domains_(transport_->ranks(), 1),
      exceptions_at_start_(std::uncaught_exceptions()),
      channel_(*transport_, domains_, router_),
      engine_(*transport_, channel_, engine_settings(options, topology_, *transport_, helping)),
      group_(channel_.worker_collective(), engine_),
      agreement_(*transport_) {
  options_.validate();
  const auto texts = agreement_.exchange("created a server", options_.to_text());
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] != texts[0]) {
      throw ConfigurationError(fmt::format("the ranks have different options. Rank 0:\n{}\nrank {}:\n{}",
                                           texts[0], rank, texts[rank]));
    }
  }
  if (options_.startup_report) report_start();
}

ParameterServer::Impl::~Impl() {
  if (closed_) return;
  if (std::uncaught_exceptions() > exceptions_at_start_ && !channel_.failure().raised() &&
      transport_->ranks() > 1) {
    transport_->abort(
        fmt::format("rank {}: an exception ended the parameter server before close(); the other ranks would "
                    "wait for ever",
                    rank().value()));
  }
  try {
    close();
  } catch (const std::exception& error) {
    transport_->abort(
        fmt::format("rank {}: closing the parameter server failed: {}", rank().value(), error.what()));
  }
}

void ParameterServer::Impl::report_start() {
  if (const auto warning = lone_rank_warning(transport_->ranks())) logger_.warning("{}", *warning);
  if (!logger_.enabled(LogLevel::info)) return;
  logger_.info("rank {} of {} on {}, {} ranks there; {}", rank().value(), ranks(), transport_->host_name(),
               transport_->host_ranks(), topology_.to_text());
  if (rank().value() == 0) logger_.info("options:\n{}", options_.to_text());
}

void ParameterServer::Impl::throw_if_closed(const char* call) const {
  if (closed_) throw ClosedError(fmt::format("{} on rank {} after close()", call, rank().value()));
}

void ParameterServer::Impl::throw_if_running(const char* call) const {
  if (running_) throw UsageError(fmt::format("{} on rank {} while workers run", call, rank().value()));
}

// --- tables
// -----------------------------------------------------------------------------------------------------

void ParameterServer::Impl::check_memory(const HomeMap& homes, const ValueLayout& layout,
                                         const TableOptions& options) const {
  const double needed = static_cast<double>(options.keys) * sizeof(std::uint64_t) +
                        static_cast<double>(homes.own_keys()) *
                            static_cast<double>(layout.slot_bytes() + sizeof(OwnershipTable::Entry));
  const double available = static_cast<double>(available_memory_bytes()) / transport_->host_ranks();
  if (needed > available) {
    throw OutOfMemory(fmt::format(
        "table '{}' needs {:.1f} MB on rank {} ({} of its {} keys, {} bytes each); {:.1f} MB are available",
        options.name, needed / 1e6, rank().value(), homes.own_keys(), options.keys, layout.slot_bytes(),
        available / 1e6));
  }
}

std::unique_ptr<TableState> ParameterServer::Impl::make_table(const TableOptions& options, ElementType type,
                                                              bool caches, std::uint64_t& fingerprint) {
  TableSpec::check(options, type);
  for (const auto& table : channel_.tables()) {
    if (table->name == options.name) {
      throw ConfigurationError(fmt::format("the server has a table '{}' already", options.name));
    }
  }
  const Domain self = domains_.domain_of(rank());
  const std::int32_t domains = domains_.domains();
  HomeMap homes = options.home == HomeMapKind::hash ? HomeMap::hash(options.keys, domains, self)
                  : options.home == HomeMapKind::range
                      ? HomeMap::range(options.keys, domains, self)
                      : HomeMap::custom(options.keys, domains, self, options.home_function);
  fingerprint = homes.fingerprint();
  const ValueLayout layout{type, options.length};
  check_memory(homes, layout, options);
  const TableId id(static_cast<std::uint32_t>(channel_.tables().size()));
  auto table = std::make_unique<TableState>(id, options.name, std::move(homes), layout, options.update_rule,
                                            caches, regions_, options.keys);
  table->home_map.for_each_own_key(
      [&](Key key) { options.initialiser.fill(options.seed, key, layout, table->store.create(key)); });
  return table;
}

TableState& ParameterServer::Impl::create_table(const TableOptions& given, ElementType type) {
  throw_if_closed("create_table");
  throw_if_running("create_table");
  TableOptions options = given;
  if (options.name.empty()) options.name = fmt::format("table-{}", channel_.tables().size());
  const bool caches = options.location_caches.value_or(options_.location_caches);

  std::unique_ptr<TableState> table;
  std::exception_ptr failure;
  std::optional<std::string> problem;
  TableSpec spec = TableSpec::from(options, type, caches);
  try {
    table = make_table(options, type, caches, spec.home_fingerprint);
  } catch (const std::exception& error) {
    failure = std::current_exception();
    problem = error.what();
  }
  // Differences come first: they explain errors of one rank alone.
  const auto specs = agreement_.exchange("create_table", spec.encode());
  for (std::size_t rank = 1; rank < specs.size(); ++rank) {
    if (const auto difference = TableSpec::decode(specs[0]).difference(TableSpec::decode(specs[rank]))) {
      throw CollectiveMismatch(
          fmt::format("create_table was called differently on ranks 0 and {}: {}", rank, *difference));
    }
  }
  agreement_.exchange("create_table", {}, problem);
  if (failure) std::rethrow_exception(failure);
  channel_.tables().push_back(std::move(table));
  return *channel_.tables().back();
}

// --- phases
// -----------------------------------------------------------------------------------------------------

void ParameterServer::Impl::prepare_endpoints(std::size_t workers) {
  auto& endpoints = channel_.workers();
  while (endpoints.size() < workers) {
    endpoints.push_back(std::make_unique<WorkerEndpoint>(static_cast<std::uint32_t>(endpoints.size())));
  }
  for (auto& endpoint : endpoints) endpoint->counters().resize(channel_.tables().size());
}

Phase ParameterServer::Impl::agree_on_phase(std::int32_t workers) {
  std::optional<std::string> problem;
  if (workers < 0) problem = fmt::format("run_workers with {} workers on rank {}", workers, rank().value());
  const auto counts = agreement_.exchange("run_workers", std::to_string(workers), problem);
  if (problem) throw UsageError(*problem);

  Phase phase{this,     channel_, engine_, group_, logger_,
              options_, rank(),   ranks(), 0,      static_cast<std::size_t>(workers),
              0};
  std::vector<Rank> participants;
  for (std::int32_t other = 0; other < ranks(); ++other) {
    const auto count = static_cast<std::size_t>(std::stol(counts[static_cast<std::size_t>(other)]));
    if (count > 0) participants.push_back(Rank(other));
    if (other < rank().value()) phase.first_worker += count;
    phase.workers += count;
  }
  if (phase.workers == 0)
    throw UsageError("run_workers without a worker on any rank: at least one is needed");

  if (rank().value() == 0 && !warned_of_sharing_) {
    if (const auto warning = core_sharing_warning(topology_, phase.local_workers, 1))
      logger_.warning("{}", *warning);
    warned_of_sharing_ = true;
  }
  prepare_endpoints(phase.local_workers);
  channel_.worker_collective().start(std::move(participants), rank(), &combine_contributions);
  group_.start(phase.local_workers);
  std::vector<Rank> all;
  for (std::int32_t other = 0; other < ranks(); ++other) all.push_back(Rank(other));
  channel_.wave().start(std::move(all), rank(), [](Bytes& into, const Bytes& from) {
    Quiescence::Counts a;
    Quiescence::Counts b;
    std::memcpy(&a, into.data(), sizeof a);
    std::memcpy(&b, from.data(), sizeof b);
    a += b;
    std::memcpy(into.data(), &a, sizeof a);
  });
  return phase;
}

void ParameterServer::Impl::run_workers(std::int32_t workers, const std::function<void(Worker&)>& f) {
  throw_if_closed("run_workers");
  throw_if_running("run_workers");
  channel_.failure().check();
  const Phase phase = agree_on_phase(workers);
  std::vector<FailureReport> reports(phase.local_workers);
  std::atomic<std::size_t> working{phase.local_workers};
  const std::function<void(std::size_t)> job = [&](std::size_t local_index) {
    WorkerEndpoint& endpoint = *channel_.workers()[local_index];
    try {
      Worker worker(phase, endpoint);
      f(worker);
      worker.wait_all();
    } catch (...) {
      // A failure that has come from elsewhere is known everywhere.
      if (!channel_.failure().raised()) {
        reports[local_index].failure = std::current_exception();
        reports[local_index].handler = &channel_;
        engine_.submit(reports[local_index]);
      }
    }
    working.fetch_sub(1, std::memory_order_release);
    engine_.notify();
  };
  running_ = true;
  pool_.run(phase.local_workers, job);
  engine_.serve([&] { return working.load(std::memory_order_acquire) == 0; });
  quiesce();
  pool_.wait();
  running_ = false;
  channel_.failure().check();
}

void ParameterServer::Impl::quiesce() {
  Quiescence quiescence;
  Collective& wave = channel_.wave();
  IdlePolicy idle(engine_settings(options_, topology_, *transport_, true).idle);
  Doorbell bell;
  Contribution contribution;
  contribution.bytes.resize(sizeof(Quiescence::Counts));
  bool contributed = false;
  std::uint64_t round = wave.completed_rounds() + 1;
  for (bool quiet = false; !quiet;) {
    bool progressed = false;
    bool idle_transport = false;
    engine_.exclusively([&] {
      progressed = engine_.turn();
      if (!contributed && engine_.quiet() && channel_.passive()) {
        const Quiescence::Counts counts = channel_.frame_counts();
        contribution.bytes.resize(sizeof counts);
        std::memcpy(contribution.bytes.data(), &counts, sizeof counts);
        wave.handle_submission(contribution);
        channel_.end_turn();
        contributed = true;
      }
      if (wave.completed_rounds() >= round) {
        Quiescence::Counts sums;
        std::memcpy(&sums, wave.result().data(), sizeof sums);
        quiet = quiescence.observe(sums);
        ++round;
        contributed = false;
        progressed = true;
      }
      idle_transport = transport_->idle();
    });
    if (progressed) {
      idle.succeeded();
      continue;
    }
    const IdlePolicy::Step step = idle.failed(&IdlePolicy::Clock::now);
    if (step == IdlePolicy::Step::sleep && idle_transport) {
      bell.sleep(idle.sleep_length(), [] { return false; });
    } else if (step != IdlePolicy::Step::look) {
      std::this_thread::yield();
    }
  }
  // The verdict itself may still be on its way to others.
  for (bool sent = false; !sent;) {
    engine_.exclusively([&] {
      sent = transport_->idle();
      if (!sent) engine_.turn();
    });
  }
}

// --- the rest
// ---------------------------------------------------------------------------------------------------

Statistics ParameterServer::Impl::statistics() {
  throw_if_closed("statistics");
  throw_if_running("statistics");
  RankStatistics mine;
  mine.counters.messages_sent = channel_.sent().packets;
  mine.counters.bytes_sent = channel_.sent().bytes;
  mine.counters.messages_received = engine_.counters().packets_received;
  mine.counters.bytes_received = engine_.counters().bytes_received;
  mine.counters.engine_turns = engine_.counters().turns;
  mine.counters.helper_turns = engine_.counters().helper_turns;
  std::vector<std::string> names;
  for (const auto& table : channel_.tables()) {
    names.push_back(table->name);
    TableCounters counters = table->counters;
    for (const auto& worker : channel_.workers()) {
      if (table->id.value() < worker->counters().size()) counters += worker->counters()[table->id.value()];
    }
    mine.tables.push_back(counters);
  }
  const std::vector<std::byte> encoded = mine.encode();
  const auto strings = agreement_.exchange(
      "statistics", std::string(reinterpret_cast<const char*>(encoded.data()), encoded.size()));
  std::vector<std::vector<std::byte>> all;
  for (const std::string& one : strings) {
    const auto bytes = std::as_bytes(std::span(one));
    all.emplace_back(bytes.begin(), bytes.end());
  }
  return Statistics::collect(std::move(names), all);
}

void ParameterServer::Impl::close() {
  throw_if_running("close");
  if (closed_) throw ClosedError(fmt::format("close on rank {} after close()", rank().value()));
  agreement_.exchange("close", {});
  closed_ = true;
  transport_->close();
}

}  // namespace lapse

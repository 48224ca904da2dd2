#include "lapse/ps/server/parameter_server_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <string>

#include "lapse/core/error.hpp"
#include "lapse/core/exception_text.hpp"
#include "lapse/core/options/option_states.hpp"
#include "lapse/core/statistics/statistics_archive.hpp"
#include "lapse/core/tracing/current_hooks.hpp"
#include "lapse/core/tracing/region_trace.hpp"
#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/core/version.hpp"
#include "lapse/ps/access/reduction.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/ps/phase/crowding.hpp"
#include "lapse/ps/phase/rest.hpp"
#include "lapse/ps/server/rank_statistics.hpp"
#include "lapse/transport/host/shared_memory.hpp"
#include "lapse/transport/rma/rma_receive_rings.hpp"

namespace lapse {

namespace {
constexpr std::string_view kMaking = "the making of a server";
}  // namespace

ProgressEngine::Settings ParameterServer::Impl::engine_settings(const Options& options, Transport& transport,
                                                                ThreadSupport threads) {
  ProgressEngine::Settings settings;
  settings.helping = threads == ThreadSupport::serialized && options.helping == Helping::on;
  settings.polling = transport.ranks() > 1;
  settings.senders_ring = transport.doorbell() != nullptr && transport.host_ranks() == transport.ranks();
  settings.idle.spin = options.progress_spin;
  settings.idle.sleep_min = options.progress_sleep_min;
  settings.idle.sleep_max = options.progress_sleep_max;
  return settings;
}

ParameterServer::Impl::Impl(std::unique_ptr<Transport> transport, const Options& options,
                            const std::exception_ptr& problem, ThreadSupport threads)
    : options_(options),
      logger_(transport->rank(), options.log_level),
      transport_(std::move(transport)),
      topology_(Topology::detect()),
      alone_(DomainMap::of_ranks(transport_->ranks())),
      domains_(alone_),
      exceptions_at_start_(std::uncaught_exceptions()),
      threads_(threads),
      protocol_(*transport_, router_),
      engine_(*transport_, protocol_, engine_settings(options, *transport_, threads)),
      sync_barrier_cut_(protocol_.termination()),
      all_workers_(protocol_, engine_, protocol_.groups().all()),
      runner_(*transport_, process_),
      stalls_(transport_->rank(), options.stall_report, logger_),
      agreement_(*transport_, &stalls_),
      maker_(*transport_, agreement_, logger_, domains_, alone_, regions_) {
  stop_report_.handler = &protocol_.stop_requests();
  const auto texts = agreement_.exchange(kMaking, [&] {
    if (problem) std::rethrow_exception(problem);
    options_.validate();
    if (!options_.region_trace.empty())
      trace_ = begin_region_trace(options_.region_trace, transport_->job().rank);
    return fmt::format("lapse {}\n{}", library_version_text(), options_.to_text());
  });
  agreement_.require_equal<ConfigurationError>(texts, [](auto& first, auto& other, std::size_t other_rank) {
    return fmt::format("the ranks have different versions or options. Rank 0:\n{}\nrank {}:\n{}", first,
                       other_rank, other);
  });
  protocol_.failures().set_listener([this](std::optional<std::uint64_t> worker, std::string_view text) {
    logger_.error("{}{}; the phase ends on every rank",
                  worker ? fmt::format("worker {} failed: ", *worker) : std::string(), text);
  });
  protocol_.groups().set_listener(
      [this](GroupNumber group, std::optional<std::uint64_t> worker, std::string_view text) {
        logger_.error("{} of group {} failed: {}; the group ends on every rank",
                      worker ? fmt::format("worker {}", *worker) : "the workers", group, text);
      });
  std::set<std::string> ignored;
  for (const auto& names : agreement_.exchange(kMaking, options_.ignored_variables))
    ignored.insert(names.begin(), names.end());
  options_.ignored_variables.assign(ignored.begin(), ignored.end());
  warn_of_environment();
  meet_peers();
  choose_domains();
  begin_allocation_trace();
  report_bulk_lane();
  if (options_.startup_report) report_start();
}

void ParameterServer::Impl::warn_of_environment() {
  const Transport::Job job = transport_->job();
  if (!job.first_server) return;
  if (job.rank == Rank(0)) {
    if (const auto warning = ignored_variables_warning(options_)) logger_.warning("{}", *warning);
  }
  if (options_.startup_report) {
    if (const auto warning = lone_rank_warning(job.ranks)) logger_.warning("{}", *warning);
  }
}

void ParameterServer::Impl::meet_peers() {
  std::vector<Peers::Peer> peers =
      agreement_.exchange(kMaking, Peers::Peer{transport_->host_name(), ProcessIdentity::own()});
  stalls_.set_peers(Peers(rank(), std::move(peers), transport_->hosts()));
}

void ParameterServer::Impl::choose_domains() {
  if (options_.domain.kind == DomainChoice::Kind::rank) return;
  const std::vector<std::int32_t> hosts = transport_->hosts();
  const bool by_number = options_.domain.kind == DomainChoice::Kind::number;
  DomainMap domains = DomainMap::of_hosts(hosts, by_number ? options_.domain.ranks : DomainMap::kNoLimit);
  SharedMemory* const memory = transport_->shared_memory();
  const auto problems = agreement_.exchange(
      kMaking, memory != nullptr ? memory->problem() : "this transport has no shared memory");
  if (domains.each_rank_alone()) return;
  for (std::size_t rank = 0; rank < problems.size(); ++rank) {
    if (problems[rank].empty()) continue;
    if (transport_->rank().value() == 0) {
      logger_.warning(
          "ranks of a host do not share memory, accesses between them go by message: on rank {}: {}; or set "
          "the option domain=rank",
          rank, problems[rank]);
    }
    return;
  }
  domains_ = std::move(domains);
  memory->join_group(domains_.domain_of(transport_->rank()).value());
}

ParameterServer::Impl::~Impl() {
  if (closed_) return;
  end_server_thread();
  try {
    transport_->throw_if_ended("the destructor of a parameter server");
  } catch (const std::exception& error) {
    logger_.error("{}", error.what());
    return;
  }
  const bool known_everywhere = protocol_.failure().raised() || agreement_.failed_everywhere();
  if (std::uncaught_exceptions() > exceptions_at_start_ && !known_everywhere && transport_->ranks() > 1) {
    transport_->abort(
        fmt::format("rank {}: an exception ended the parameter server before close(); the other ranks would "
                    "wait indefinitely",
                    rank().value()));
  }
  try {
    close();
  } catch (...) {
    transport_->abort(fmt::format("rank {}: closing the parameter server failed: {}", rank().value(),
                                  text_of(std::current_exception())));
  }
}

void ParameterServer::Impl::begin_allocation_trace() {
  if (options_.allocation_trace.empty()) return;
  const std::string prefix = trace_prefix(options_.allocation_trace, transport_->job().rank, agreement_);
  agreement_.exchange(kMaking, [&] {
    allocation_trace_ = std::make_unique<AllocationTrace>(
        options_, AllocationTrace::Place{.rank = rank(),
                                         .prefix = prefix,
                                         .hosts = transport_->hosts(),
                                         .host_name = std::string(transport_->host_name())});
    return 0;
  });
  allocation_trace_->add_clock(measure_clock(agreement_));
  if (allocation_trace_->events() != TraceEvents::allocation)
    protocol_.replication().set_observer(allocation_trace_.get());
  if (allocation_trace_->events() == TraceEvents::accesses) observer_ = allocation_trace_.get();
}

void ParameterServer::Impl::end_allocation_trace() {
  if (allocation_trace_ == nullptr) return;
  allocation_trace_->add_clock(measure_clock(agreement_));
  if (const std::string problem = allocation_trace_->close(); !problem.empty()) logger_.error("{}", problem);
  if (rank().value() != 0) return;
  for (const std::string& name : allocation_trace_->unknown_tables())
    logger_.warning("option allocation_trace_keys names table '{}', which there was not", name);
}

void ParameterServer::Impl::report_bulk_lane() {
  RmaReceiveRings* const rings = transport_->rma_receive_rings();
  if (rings == nullptr) return;
  const RmaReceiveRings::Report& report = rings->report();
  if (rank().value() != 0 || report.text.empty()) return;
  if (report.problem) {
    logger_.warning("{}", report.text);
  } else if (options_.startup_report) {
    logger_.info("{}", report.text);
  }
}

void ParameterServer::Impl::report_start() {
  if (!logger_.enabled(LogLevel::info)) return;
  const Domain domain = domains_.domain_of(rank());
  logger_.info("rank {} of {} on {}, {} ranks there, {} share memory in domain {} of {}; {}", rank().value(),
               ranks(), transport_->host_name(), transport_->host_ranks(), domains_.members(domain).size(),
               domain.value(), domains_.domains(), topology_.to_text());
  if (rank().value() == 0) logger_.info("options:\n{}", options_.to_text());
}

void ParameterServer::Impl::throw_if_closed(const char* call) const {
  if (is_left()) process_.refuse(fmt::format("{} on rank {}", call, rank().value()));
  if (closed_) throw ClosedError(fmt::format("{} on rank {} after close()", call, rank().value()));
  if (MpiCalls::held_here()) {
    throw UsageError(
        fmt::format("{} on rank {} by a thread that has mpi_calls(): the server would wait for it", call,
                    rank().value()));
  }
  transport_->throw_if_ended(call);
}

void ParameterServer::Impl::throw_if_running(const char* call) const {
  if (running_) throw UsageError(fmt::format("{} on rank {} while workers run", call, rank().value()));
}

// --- tables ---

TableShard& ParameterServer::Impl::create_table(const TableOptions& given, ElementType type) {
  check_collective("create_table");
  const TimedRegion region("lapse create_table");
  TableOptions options = given;
  if (options.name.empty()) options.name = fmt::format("table-{}", protocol_.registry().tables().size());
  if (allocation_trace_ != nullptr) {
    agreement_.exchange("create_table", [&] {
      traced_selection(options_.allocation_trace_keys, options.name, options.sparse ? 0 : options.keys);
      return 0;
    });
  }
  auto table = maker_.make(options, type, options.location_caches.value_or(options_.location_caches),
                           protocol_.registry().tables());
  TableShard& added = protocol_.registry().add(std::move(table));
  stalls_.watch_latches(added);
  if (allocation_trace_ != nullptr) {
    progress_role.assert_held();  // No engine runs.
    allocation_trace_->add_table(added);
  }
  return added;
}

const RegisteredFunction& ParameterServer::Impl::register_function(RegisteredFunction function) {
  check_collective("register_function");
  const auto& functions = protocol_.registry().functions();
  const auto texts = agreement_.exchange("register_function", [&] {
    if (function.name.empty()) throw ConfigurationError("a registered function needs a name");
    if (std::ranges::any_of(functions, [&](const auto& other) { return other->name == function.name; }))
      throw ConfigurationError(fmt::format("the server has a function '{}' already", function.name));
    return fmt::format("'{}' on {} values with {} bytes of argument and {} of result", function.name,
                       element_name(function.type), function.argument_bytes, function.result_bytes);
  });
  agreement_.require_equal<CollectiveMismatch>(texts, [](auto& first, auto& other, std::size_t other_rank) {
    return fmt::format("register_function was called for {} on rank 0 and for {} on rank {}", first, other,
                       other_rank);
  });
  return protocol_.registry().add(std::move(function));
}

// --- the rest ---

Statistics ParameterServer::Impl::statistics() {
  check_call("statistics");
  progress_role.assert_held();  // No engine runs.
  std::vector<std::string> names;
  for (const auto& table : protocol_.registry().tables()) names.push_back(table->name());
  return Statistics::collect(std::move(names),
                             agreement_.exchange("statistics", rank_statistics(protocol_, engine_)));
}

ParameterServer::MemoryUse ParameterServer::Impl::memory_use() const {
  throw_if_closed("memory_use");
  throw_if_running("memory_use");
  MemoryUse sum;
  for (const auto& table : protocol_.registry().tables()) {
    const MemoryUse use = memory_use(*table);
    sum.words += use.words;
    sum.ownership += use.ownership;
    sum.slabs += use.slabs;
    sum.values += use.values;
    sum.copies += use.copies;
  }
  sum.buffers = transport_->buffer_bytes();
  return sum;
}

ParameterServer::MemoryUse ParameterServer::Impl::memory_use(const TableShard& table) const {
  throw_if_closed("memory_use");
  throw_if_running("memory_use");
  progress_role.assert_held();  // No engine runs.
  MemoryUse use;
  use.words = table.word_bytes();
  use.ownership = table.owner_bytes();
  use.slabs = table.store().slab_bytes();
  use.values = table.store().content_bytes_here();
  use.copies = table.copy_bytes();
  return use;
}

ParameterServer::MemoryUse ParameterServer::Impl::estimate_memory(const TableOptions& options,
                                                                  ElementType type) const {
  throw_if_closed("estimate_memory");
  return maker_.estimate(options, type);
}

std::vector<std::string> ParameterServer::Impl::close(const std::string& last_words) {
  throw_if_closed("close");
  throw_if_running("close");
  std::vector<std::string> of_ranks = agreement_.exchange("close", last_words);
  end_allocation_trace();
  closed_ = true;
  CallWatch watch(&stalls_, "close");
  {
    const TimedRegion region("lapse close");
    transport_->close(&watch);
  }
  if (trace_ != nullptr) trace_->flush();
  return of_ranks;
}

}  // namespace lapse

#include "lapse/ps/parameter_server.hpp"

#include <chrono>
#include <exception>

#include "lapse/core/error.hpp"
#include "lapse/core/option_sources.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/foreign_table.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/ps/server/parameter_server_impl.hpp"
#include "lapse/transport/mpi/library/shared_options_file.hpp"
#include "lapse/transport/mpi/transport.hpp"

namespace lapse {

namespace {

MpiTransportSettings transport_settings(const Options& options) {
  MpiTransportSettings settings;
  settings.eager_bytes = options.eager_bytes;
  settings.ring_buffers = options.eager_buffers;
  settings.host_rings = options.host_rings;
  settings.rma = options.rma;
  settings.making_report = {.after = options.stall_report, .level = options.log_level};
  return settings;
}

}  // namespace

ParameterServer::ParameterServer(MPI_Comm communicator, const Options& options)
    : impl_(make_impl(communicator, options, nullptr)) {}

ParameterServer::ParameterServer(MPI_Comm communicator)
    : ParameterServer(communicator, OptionSources(shared_options_file(communicator).settings())) {}

ParameterServer::ParameterServer(MPI_Comm communicator, const OptionSources& sources) {
  Options options;
  std::exception_ptr problem;
  try {
    options = Options::from_environment(sources);
  } catch (const ConfigurationError&) {
    problem = std::current_exception();
  }
  impl_ = make_impl(communicator, options, problem);
}

ParameterServer::ParameterServer(std::unique_ptr<Transport> transport, const Options& options, bool helping)
    : impl_(std::make_unique<Impl>(std::move(transport), options, nullptr,
                                   helping ? ThreadSupport::serialized : ThreadSupport::funneled)) {}

std::unique_ptr<ParameterServer::Impl> ParameterServer::make_impl(MPI_Comm communicator,
                                                                  const Options& options,
                                                                  const std::exception_ptr& problem) {
  MpiLock::refuse_application_thread("the making of a server");
  auto transport = std::make_unique<MpiTransport>(communicator, transport_settings(options));
  const int level = transport->communicator().thread_level();
  const ThreadSupport threads = level == MPI_THREAD_SINGLE     ? ThreadSupport::single
                                : level == MPI_THREAD_FUNNELED ? ThreadSupport::funneled
                                                               : ThreadSupport::serialized;
  MpiLock& lock = transport->communicator().lock();
  auto impl = std::make_unique<Impl>(std::move(transport), options, problem, threads);
  impl->set_mpi_lock(lock);
  return impl;
}

ParameterServer::~ParameterServer() {
  if (impl_ && impl_->is_left()) leave_to_parent(impl_);
}

Rank ParameterServer::rank() const {
  return impl_->rank();
}
std::int32_t ParameterServer::ranks() const {
  return impl_->ranks();
}
const Options& ParameterServer::options() const {
  return impl_->options();
}
std::vector<std::int32_t> ParameterServer::hosts() const {
  return impl_->hosts();
}
const void* ParameterServer::identity() const {
  return impl_.get();
}

TableShard& ParameterServer::create_table(const TableOptions& options, ElementType type) {
  return impl_->create_table(options, type);
}

const RegisteredFunction& ParameterServer::register_function(RegisteredFunction function) {
  return impl_->register_function(std::move(function));
}

void ParameterServer::run_workers(std::int32_t workers, const std::function<void(Worker&)>& f) {
  impl_->run_workers(workers, f);
}

std::vector<GroupEnd> ParameterServer::run_groups(std::span<const GroupPart> groups) {
  return impl_->run_groups(groups);
}

void ParameterServer::run_here(const std::function<void(Worker&)>& f) {
  impl_->run_here(f);
}
void ParameterServer::start_progress(std::int32_t workers) {
  impl_->start_progress(workers);
}
void ParameterServer::stop_progress() {
  impl_->stop_progress();
}
void ParameterServer::end_attaching(std::string_view call) {
  impl_->end_attaching(call);
}
AttachedWorker ParameterServer::attach(std::optional<std::size_t> place) {
  return impl_->attach(place);
}
void ParameterServer::progress(std::chrono::microseconds wait) {
  impl_->progress(wait);
}
MpiCalls ParameterServer::mpi_calls() {
  return impl_->mpi_calls();
}

Statistics ParameterServer::statistics() {
  return impl_->statistics();
}
std::vector<std::string> ParameterServer::exchange(std::string_view call,
                                                   const std::function<std::string()>& make) {
  return impl_->exchange(call, make);
}
void ParameterServer::request_stop() {
  impl_->request_stop();
}
bool ParameterServer::stop_requested() const {
  return impl_->stop_requested();
}
void ParameterServer::manage(IntentSource& source, const ManagementPolicy& policy, const RoundTimes& times) {
  impl_->manage(source, policy, times);
}
void ParameterServer::observe(KeyObserver& observer) {
  impl_->observe(observer);
}
void ParameterServer::close() {
  close(std::string());
}

std::vector<std::string> ParameterServer::close(const std::string& last_words) {
  if (impl_->is_left()) return {};
  impl_->check_call("close");
  return impl_->close(last_words);
}

ParameterServer::MemoryUse ParameterServer::memory_use(const TableHandle& table) const {
  if (table.server() != identity())
    throw UsageError(std::string("the memory of ") + foreign_table(table.server()));
  return impl_->memory_use(table.state());
}

ParameterServer::MemoryUse ParameterServer::memory_use() const {
  return impl_->memory_use();
}

ParameterServer::MemoryUse ParameterServer::estimate_memory(const TableOptions& options,
                                                            ElementType type) const {
  return impl_->estimate_memory(options, type);
}

// --- for libraries on top of the server

std::vector<std::string> ParameterServer::Impl::exchange(std::string_view call,
                                                         const std::function<std::string()>& make) {
  check_call(std::string(call).c_str());
  return agreement_.exchange(call, make);
}

void ParameterServer::Impl::request_stop() {
  process_.check("request_stop");
  protocol_.stop_requests().request();
  if (running_) report_stop();
}

void ParameterServer::Impl::report_stop() {
  if (!stop_reported_.exchange(true)) engine_.submit_from_outside(stop_report_);
}

void ParameterServer::Impl::manage(IntentSource& source, const ManagementPolicy& policy,
                                   const RoundTimes& times) {
  throw_if_closed("manage");
  throw_if_running("manage");
  // The engine notes the deadline of the first round, because no message precedes that round.
  engine_.exclusively([&] {
    protocol_.replication().set_times(times);
    protocol_.replication().set_policy(&policy);
    protocol_.replication().set_source(&source);
    protocol_.access().set_source(&source);
  });
}

void ParameterServer::Impl::observe(KeyObserver& observer) {
  throw_if_closed("observe");
  throw_if_running("observe");
  const TraceEvents traced =
      allocation_trace_ != nullptr ? allocation_trace_->events() : TraceEvents::allocation;
  if (traced == TraceEvents::allocation) {
    protocol_.replication().set_observer(&observer);
  } else {
    allocation_trace_->forward_to(observer);
  }
  if (traced != TraceEvents::accesses) observer_ = &observer;
}

}  // namespace lapse

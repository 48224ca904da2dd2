#include "lapse/ps/worker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/element_checks.hpp"
#include "lapse/ps/access/limited_rows.hpp"
#include "lapse/ps/access/reduction.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/elements.hpp"

namespace lapse {

Worker::Worker(const Seat& seat)
    : gate_(seat.phase.server, seat.slot.unanswered().count(), seat.slot.counters().data()),
      core_(std::make_unique<WorkerCore>(seat, gate_)) {
  // An observer sees only the accesses that go through the core.
  if (seat.phase.observer != nullptr) gate_.close();
}

Worker::~Worker() = default;

void Worker::end() noexcept {
  core_->end();
}

std::size_t Worker::index() const {
  return core_->index();
}
std::size_t Worker::count() const {
  return core_->phase().workers;
}
std::size_t Worker::local_index() const {
  return core_->seat().local_index();
}
std::size_t Worker::local_count() const {
  return core_->phase().local_workers;
}
Rank Worker::rank() const {
  return core_->rank();
}
std::int32_t Worker::ranks() const {
  return core_->phase().ranks;
}

void Worker::advance_clock() {
  core_->advance_clock();
}

Clock Worker::current_clock() const {
  return core_->endpoint().clock()->now();
}

// --- accesses ---

void Worker::sample_read(const TableHandle& table, Key key) {
  core_->sample_read(table.state(), key);
}

Operation Worker::begin_pull(const TableHandle& table, std::span<const Key> keys, std::byte* values,
                             std::size_t elements) {
  core_->admit_values(table, keys, "values", elements);
  if (table.inlined_for() != table.server() && table.state().definition().caches_reads) [[unlikely]]
    return core_->pull_cached(table, keys, values);
  return core_->access(table, keys, {.operation = {.kind = OperationKind::pull}, .destination = values});
}

Operation Worker::begin_push(const TableHandle& table, std::span<const Key> keys, const std::byte* updates,
                             std::size_t elements, float scale) {
  core_->admit_values(table, keys, "updates", elements);
  core_->arguments().scale(table.state(), scale);
  const ValueOperation push{.kind = OperationKind::push, .scale = scale};
  // Reads the handle first: the definition may not be in a cache.
  if (table.push_rule().is_direct) [[likely]]
    return core_->access(table, keys, {.operation = push, .updates = updates});
  if (!table.state().definition().limits.any())
    return core_->push_checked(table, keys, {.operation = push, .updates = updates});
  const LimitedRows rows({table.state(), gate_.counters(table), rank()}, push.kind, keys, updates, elements);
  return core_->push_checked(table, keys, {.operation = push, .updates = rows.data()});
}

Operation Worker::begin_set(const TableHandle& table, std::span<const Key> keys, const std::byte* values,
                            std::size_t elements) {
  core_->admit_values(table, keys, "values", elements);
  core_->refuse_bounded(table, "set");
  core_->forget_reads(table, keys);
  if (table.state().definition().limits.any()) [[unlikely]] {
    const LimitedRows checked({table.state(), gate_.counters(table), rank()}, OperationKind::set, keys,
                              values, elements);
  }
  return core_->access(table, keys, {.operation = {.kind = OperationKind::set}, .updates = values});
}

Operation Worker::begin_call(const TableHandle& table, std::span<const Key> keys,
                             const RegisteredFunction& function, const void* function_server,
                             Rows<const std::byte> arguments, Rows<std::byte> results) {
  if (function_server != core_->phase().server) {
    throw UsageError(
        fmt::format("a worker of rank {} was given a function of another server", rank().value()));
  }
  core_->admit(table, keys);
  core_->refuse_bounded(table, "call");
  core_->forget_reads(table, keys);
  const ArgumentChecks& checks = core_->arguments();
  checks.lengths(table.state(), keys);
  checks.count(table.state(), "arguments", arguments.given, arguments.expected);
  checks.count(table.state(), "results", results.given, results.expected);
  return core_->access(table, keys,
                       {.operation = {.kind = OperationKind::call, .function = &function},
                        .updates = arguments.data,
                        .destination = results.data});
}

Operation Worker::begin_elements(const TableHandle& table, const ElementCall& call) {
  core_->admit(table, call.keys);
  const ElementChecks checks(table.state(), rank());
  const ElementPairs pairs{call.keys, call.indices};
  checks.keys(call.keys_of_call, pairs.size());
  checks.pairs(pairs, call.is_push ? "updates" : "values", call.elements);
  if (call.is_push) {
    core_->arguments().scale(table.state(), call.scale);
    checks.updates(pairs, call.updates, gate_.counters(table));
  }
  const OperationKind kind = call.is_push ? OperationKind::push_elements : OperationKind::pull_elements;
  const AccessRequest request{
      .operation = {.kind = kind, .scale = call.scale}, .updates = call.updates, .destination = call.values};
  if (!call.is_push && table.state().definition().caches_reads) [[unlikely]]
    return core_->pull_elements_cached(table, pairs, call.values);
  return call.is_push ? core_->push_elements_checked(table, pairs, request)
                      : core_->access_elements(table, pairs, request);
}

Operation Worker::begin_localize(const TableHandle& table, std::span<const Key> keys) {
  core_->admit(table, keys, WorkerCore::Allowed::under_lease);
  core_->arguments().lengths(table.state(), keys);
  return core_->localize(table, keys);
}

Locality Worker::locality_of(const TableHandle& table, Key key) {
  core_->admit(table, std::span<const Key>(&key, 1), WorkerCore::Allowed::under_lease);
  return core_->locality(table, key);
}

bool Worker::read_if_local(const TableHandle& table, Key key, std::byte* to, std::size_t elements) {
  core_->admit_values(table, std::span<const Key>(&key, 1), "values", elements,
                      WorkerCore::Allowed::under_lease);
  if (!core_->read_if_local(table, key, to)) return false;
  // Newer than what was kept.
  core_->forget_reads(table, std::span(&key, 1));
  return true;
}

bool Worker::admit_update(const TableHandle& table, Key key) {
  core_->admit(table, std::span<const Key>(&key, 1), WorkerCore::Allowed::without_wait);
  core_->refuse_bounded(table, "update_if_local");
  core_->forget_reads(table, std::span(&key, 1));
  if (!core_->may_pass(table)) return false;
  core_->observe_update(table.state(), key);
  const TableShard& state = table.state();
  return core_->endpoint().may_access_memory(state, key, state.store().find(key));
}

void Worker::visit_local(const TableHandle& table,
                         const std::function<void(Key, const std::byte*, std::size_t)>& f) {
  core_->for_each_local(table, f);
}

Lease Worker::lease(std::span<const LeaseKeys> parts) {
  return core_->lease(parts);
}

// --- together ---

void Worker::wait_all() {
  core_->wait_all();
}

namespace {

ReductionHeader header_of(const WorkerCore& core, ReductionHeader::Kind kind) {
  ReductionHeader header;
  header.kind = kind;
  header.rank = core.rank().value();
  header.worker = core.index();
  return header;
}

}  // namespace

void Worker::barrier() {
  core_->collective(make_contribution(header_of(*core_, ReductionHeader::Kind::barrier), {}),
                    "the other workers at a barrier");
}

void Worker::wait_sync() {
  core_->wait_sync();
}

void Worker::sync_barrier() {
  core_->sync_barrier(make_sync_contribution(header_of(*core_, ReductionHeader::Kind::sync_barrier)));
}

namespace {

template <class T>
void reduce_elements(WorkerCore& core, ReductionHeader::Kind kind, std::span<T> values, Reduce reduce) {
  ReductionHeader header = header_of(core, kind);
  header.reduce = reduce;
  header.elements = values.size();
  const Bytes& result =
      core.collective(make_contribution(header, std::as_bytes(values)), "the other workers in all_reduce");
  std::ranges::copy(result_elements(result, header), std::as_writable_bytes(values).begin());
}

}  // namespace

void Worker::all_reduce(std::span<double> values, Reduce reduce) {
  reduce_elements(*core_, ReductionHeader::Kind::reduce_double, values, reduce);
}

void Worker::all_reduce(std::span<std::int64_t> values, Reduce reduce) {
  reduce_elements(*core_, ReductionHeader::Kind::reduce_int64, values, reduce);
}

void Worker::broadcast(std::span<std::byte> bytes, std::size_t root) {
  if (root >= count()) {
    throw UsageError(fmt::format("broadcast from worker {} of {}", root, count()));
  }
  ReductionHeader header = header_of(*core_, ReductionHeader::Kind::broadcast);
  header.root = root;
  header.elements = bytes.size();
  const bool sends = index() == root;
  const Bytes& result = core_->collective(make_contribution(header, sends ? bytes : std::span<std::byte>()),
                                          "the other workers in broadcast");
  std::ranges::copy(result_elements(result, header), bytes.begin());
}

}  // namespace lapse

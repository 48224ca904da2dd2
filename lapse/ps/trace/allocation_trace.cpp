#include "lapse/ps/trace/allocation_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>  // also program_invocation_short_name
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "lapse/core/file_error.hpp"
#include "lapse/core/statistics/json.hpp"
#include "lapse/core/version.hpp"
#include "lapse/ps/agreement/agreement.hpp"

namespace lapse {

namespace {

constexpr std::size_t kTraceBufferBytes = std::size_t{1} << 16U;
constexpr std::size_t kLongestRecord = 64;
constexpr std::size_t kMaxNoteBytes = 65536;
constexpr std::int64_t kMaxTicksInMemory =
    200'000'000 / kTraceTickNanoseconds;  // for viewers of running jobs

std::int64_t ticks_of(std::chrono::steady_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count() / kTraceTickNanoseconds;
}

// In ticks.
std::int64_t trace_time() {
  return ticks_of(std::chrono::steady_clock::now());
}

std::uint8_t trace_state(Role role) {
  switch (role) {
    case Role::absent:
    case Role::closing:
      return 0;
    case Role::arriving:
    case Role::awaiting:
      return kTraceAwaited;
    case Role::owner:
      return kTraceOwner;
    case Role::replica:
      return kTraceCopy;
    case Role::upgrading:
      return kTraceCopy | kTraceAwaited;
  }
  return 0;
}

}  // namespace

std::string trace_prefix(const std::string& option, Rank job_rank, Agreement& agreement) {
  // Servers are made by one thread of a process at a time.
  static std::map<std::string, std::uint64_t> servers_of_process;
  std::uint64_t& servers = servers_of_process[option];
  using Position = std::vector<std::uint64_t>;  // servers of the process so far, its rank in the job
  const auto all = agreement.exchange("the names of traces",
                                      Position{servers, static_cast<std::uint64_t>(job_rank.value())});
  std::uint64_t number = 0;
  for (const Position& position : all) number = std::max(number, position.at(0));
  servers = number + 1;
  std::string prefix = option;
  if (const std::uint64_t first = all[0].at(1); first > 0) prefix += fmt::format("-from-rank-{}", first);
  if (number > 0) prefix += fmt::format("-server-{}", number + 1);
  return prefix;
}

// The selected keys of a table.
class AllocationTrace::Watch final : public RoleWatch {
 public:
  Watch(AllocationTrace& trace, const TableShard& table, KeySelection selection)
      : trace_(trace), id_(table.id()), selection_(std::move(selection)) {}

  void changed(Key key, Role before, Role after) noexcept override {
    const std::uint8_t state = trace_state(after);
    if (state == trace_state(before) || !selection_.contains(key)) return;
    const MutexLock guard(trace_.mutex_);
    trace_.append_key(*this, key, kRoleRecord | state, trace_time());
  }

  TableId id() const { return id_; }
  const KeySelection& selection() const { return selection_; }
  // Of this key from the one before, for which this was called.
  std::int64_t step_to(Key key) {
    return static_cast<std::int64_t>(key.value() - std::exchange(last_key_, key.value()));
  }

 private:
  AllocationTrace& trace_;
  const TableId id_;
  const KeySelection selection_;
  std::uint64_t last_key_ = 0;
};

AllocationTrace::AllocationTrace(const Options& options, const Place& place)
    : selection_(options.allocation_trace_keys),
      limit_(options.allocation_trace_bytes),
      events_(options.allocation_trace_events),
      path_(fmt::format("{}.{}", place.prefix, place.rank.value())) {
  traced_tables(selection_);
  begin_file(place);
  note("program", program_invocation_short_name);
  add_note_listener(*this);
}

void AllocationTrace::begin_file(const Place& place) {
  const MutexLock guard(mutex_);
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (file_ == nullptr) throw FileError(path_, fmt::format("cannot be created: {}", std::strerror(errno)));
  ticks_ = trace_time();
  records_.reserve(kTraceBufferBytes + kLongestRecord);
  records_ = kAllocationMagic;
  records_ += static_cast<char>(TraceRecord::header);
  append_text(records_, fmt::format(R"({{"lapse": {}, "rank": {}, "hosts": [{}], "host": {}, "start": {}}})",
                                    json_string(library_version_text()), place.rank.value(),
                                    fmt::join(place.hosts, ", "), json_string(place.host_name),
                                    ticks_ * kTraceTickNanoseconds));
}

AllocationTrace::~AllocationTrace() {
  remove_note_listener(*this);
  const MutexLock guard(mutex_);
  flush();
}

void AllocationTrace::begin_record(std::uint8_t kind, std::int64_t now) {
  records_ += static_cast<char>(kind);
  append_number(records_, static_cast<std::uint64_t>(std::max<std::int64_t>(now - ticks_, 0)));
  ticks_ = std::max(now, ticks_);
}

void AllocationTrace::begin_record(TraceRecord kind) {
  begin_record(static_cast<std::uint8_t>(kind), trace_time());
}

bool AllocationTrace::takes_more(std::int64_t now) {
  if (dropping_ || file_ == nullptr) return false;
  if (records_.size() >= kTraceBufferBytes || now - flushed_ >= kMaxTicksInMemory) {
    flush();
    flushed_ = now;
  }
  if (written_ + records_.size() < limit_) return file_ != nullptr;
  begin_record(TraceRecord::dropped);
  dropping_ = true;
  flush();
  return false;
}

void AllocationTrace::append_key(Watch& table, Key key, std::uint8_t kind, std::int64_t now) {
  if (!takes_more(now)) return;
  if (last_table_ != &table) {
    records_ += static_cast<char>(TraceRecord::on_table);
    append_number(records_, table.id().index());
    last_table_ = &table;
  }
  begin_record(kind, now);
  append_signed(records_, table.step_to(key));
}

void AllocationTrace::flush() {
  if (file_ == nullptr) return;
  if (std::fwrite(records_.data(), 1, records_.size(), file_.get()) != records_.size() ||
      std::fflush(file_.get()) != 0) {
    problem_ = fmt::format("{}: cannot be written: {}", path_, std::strerror(errno));
    file_.reset();
  }
  written_ += records_.size();
  records_.clear();
}

void AllocationTrace::add_table(TableShard& table) {
  const std::uint64_t keys = table.store().is_sparse() ? 0 : table.store().keys();
  KeySelection selection = traced_selection(selection_, table.name(), keys);
  if (selection.is_empty()) return;
  if (watches_.size() <= table.id().index()) watches_.resize(table.id().index() + 1);
  auto& watch = *(watches_[table.id().index()] = std::make_unique<Watch>(*this, table, std::move(selection)));
  names_.push_back(table.name());
  const DomainMap& map = table.definition().domains;
  std::vector<std::int32_t> domains;
  domains.reserve(static_cast<std::size_t>(map.ranks()));
  for (std::int32_t rank = 0; rank < map.ranks(); ++rank)
    domains.push_back(map.domain_of(Rank(rank)).value());
  // Of a value, and of what moves with it; 0 where keys differ.
  const bool equal = table.sizes().uniform();
  const std::size_t value_bytes = equal ? table.sizes().layout().value_bytes() : 0;
  const std::size_t content_bytes = equal ? table.sizes().layout().content_bytes() : 0;
  // Replicas send their gradients, or how their content differs.
  const bool sends_gradients = table.sizes().layout().copies == Copies::gradients;
  {
    const MutexLock guard(mutex_);
    begin_record(TraceRecord::table);
    append_text(
        records_,
        fmt::format(
            R"({{"id": {}, "name": {}, "keys": {}, "home": {}, "value_bytes": {}, "content_bytes": {}, "delta_bytes": {}, "replicas": {}, "domains": [{}]}})",
            table.id().index(), json_string(table.name()), keys,
            json_string(home_map_name(table.definition().homes.kind())), value_bytes, content_bytes,
            sends_gradients ? value_bytes : content_bytes, table.copies() != nullptr,
            fmt::join(domains, ", ")));
  }
  if (keys > 0) {
    watch.selection().for_each(keys, [&](Key key) {
      if (table.serves(key)) watch.changed(key, Role::absent, table.store().word(key).role());
    });
  }
  table.store().set_role_watch(&watch);
}

void AllocationTrace::begin_phase(std::string_view name) {
  const MutexLock guard(mutex_);
  begin_record(TraceRecord::begin);
  append_text(records_, name);
}

void AllocationTrace::end_phase() {
  const MutexLock guard(mutex_);
  begin_record(TraceRecord::end);
  flush();
}

void AllocationTrace::add_clock(ClockBounds bounds) {
  const MutexLock guard(mutex_);
  begin_record(TraceRecord::clock);
  append_signed(records_, bounds.lowest);
  append_signed(records_, bounds.highest);
}

void AllocationTrace::band(std::string_view name, Time begin, Time end) {
  const MutexLock guard(mutex_);
  if (file_ == nullptr) return;
  begin_record(TraceRecord::band);
  const std::int64_t now = ticks_;
  const auto ago = [now](Time time) {
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(now - ticks_of(time), 0, now));
  };
  append_number(records_, ago(end));
  append_number(records_, std::max(ago(begin), ago(end)));
  append_text(records_, name.substr(0, kMaxNoteBytes));
  flush();
}

void AllocationTrace::note(std::string_view name, std::string_view value) {
  const MutexLock guard(mutex_);
  if (file_ == nullptr) return;
  begin_record(TraceRecord::note);
  append_text(records_, name.substr(0, kMaxNoteBytes));
  append_text(records_, value.substr(0, kMaxNoteBytes));
  flush();
}

std::string AllocationTrace::close() {
  remove_note_listener(*this);
  const MutexLock guard(mutex_);
  if (file_ != nullptr) {
    begin_record(TraceRecord::close);
    flush();
    file_.reset();
  }
  return problem_;
}

std::vector<std::string> AllocationTrace::unknown_tables() const {
  std::vector<std::string> unknown;
  for (std::string& name : traced_tables(selection_))
    if (std::ranges::find(names_, name) == names_.end()) unknown.push_back(std::move(name));
  return unknown;
}

// --- what the server reports

void AllocationTrace::wanted(TableId id, std::span<const Key> keys, bool on) {
  if (other_ != nullptr) other_->wanted(id, keys, on);
  Watch* const table = find(id);
  if (table == nullptr) return;
  const MutexLock guard(mutex_);
  const std::int64_t now = trace_time();
  for (const Key key : keys)
    if (table->selection().contains(key)) append_key(*table, key, kWantRecord | (on ? 1U : 0U), now);
}

void AllocationTrace::round_ended() {
  if (other_ != nullptr) other_->round_ended();
}

void AllocationTrace::changes_sent() {
  if (other_ != nullptr) other_->changes_sent();
  const MutexLock guard(mutex_);
  const std::int64_t now = trace_time();
  if (takes_more(now)) begin_record(static_cast<std::uint8_t>(TraceRecord::round), now);
}

void AllocationTrace::accessed(const TableShard& shard, std::span<const Key> keys, Store::Reach reach,
                               AccessKind kind) {
  if (other_ != nullptr) other_->accessed(shard, keys, reach, kind);
  append_accesses(shard, keys, kind,
                  [&](Key key) { return place_of_access(shard, key, reach) == AccessPlace::remote; });
}

void AllocationTrace::leased(const TableShard& shard, std::span<const Key> keys, AccessKind kind) {
  if (other_ != nullptr) other_->leased(shard, keys, kind);
  append_accesses(shard, keys, kind, [](Key) { return false; });
}

template <class IsRemote>
void AllocationTrace::append_accesses(const TableShard& shard, std::span<const Key> keys, AccessKind kind,
                                      IsRemote&& is_remote) {
  Watch* const table = find(shard.id());
  if (table == nullptr) return;
  const std::uint8_t writes = kind == AccessKind::write ? kTraceWrites : 0;
  const MutexLock guard(mutex_);
  const std::int64_t now = trace_time();
  for (const Key key : keys) {
    if (!table->selection().contains(key)) continue;
    const std::uint8_t remote = is_remote(key) ? kTraceRemote : 0;
    append_key(*table, key, kAccessRecord | writes | remote, now);
  }
}

}  // namespace lapse

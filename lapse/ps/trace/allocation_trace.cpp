#include "lapse/ps/trace/allocation_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "lapse/core/file_error.hpp"
#include "lapse/core/statistics/json.hpp"
#include "lapse/core/tracing/allocation_records.hpp"
#include "lapse/core/version.hpp"
#include "lapse/ps/agreement/agreement.hpp"

namespace lapse {

namespace {

constexpr std::size_t kTraceBufferBytes = std::size_t{1} << 16U;
constexpr std::size_t kLongestChange = 64;

std::int64_t steady_nanoseconds() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
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
    trace_.append_change(*this, key, state);
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
      path_(fmt::format("{}.{}", place.prefix, place.rank.value())) {
  traced_tables(selection_);
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (file_ == nullptr) throw FileError(path_, fmt::format("cannot be created: {}", std::strerror(errno)));
  const std::int64_t start = steady_nanoseconds();
  ticks_ = start / kTraceTickNanoseconds;
  records_.reserve(kTraceBufferBytes + kLongestChange);
  records_ = kAllocationMagic;
  records_ += static_cast<char>(TraceRecord::header);
  append_text(records_, fmt::format(R"({{"lapse": {}, "rank": {}, "hosts": [{}], "host": {}, "start": {}}})",
                                    json_string(library_version_text()), place.rank.value(),
                                    fmt::join(place.hosts, ", "), json_string(place.host_name),
                                    ticks_ * kTraceTickNanoseconds));
}

AllocationTrace::~AllocationTrace() {
  flush();
}

void AllocationTrace::begin_record(std::uint8_t kind) {
  const std::int64_t now = steady_nanoseconds() / kTraceTickNanoseconds;
  records_ += static_cast<char>(kind);
  append_number(records_, static_cast<std::uint64_t>(std::max<std::int64_t>(now - ticks_, 0)));
  ticks_ = std::max(now, ticks_);
}

void AllocationTrace::append_change(Watch& table, Key key, std::uint8_t state) {
  if (dropping_ || file_ == nullptr) return;
  if (written_ + records_.size() >= limit_) {
    begin_record(static_cast<std::uint8_t>(TraceRecord::dropped));
    dropping_ = true;
    return;
  }
  if (last_table_ != &table) {
    records_ += static_cast<char>(TraceRecord::on_table);
    append_number(records_, table.id().index());
    last_table_ = &table;
  }
  begin_record(kRoleRecord | state);
  append_signed(records_, table.step_to(key));
  if (records_.size() >= kTraceBufferBytes) flush();
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
  if (selection.is_empty() || file_ == nullptr) return;
  auto& watch = *watches_.emplace_back(std::make_unique<Watch>(*this, table, std::move(selection)));
  names_.push_back(table.name());
  begin_record(static_cast<std::uint8_t>(TraceRecord::table));
  const DomainMap& map = table.definition().domains;
  std::vector<std::int32_t> domains;
  domains.reserve(static_cast<std::size_t>(map.ranks()));
  for (std::int32_t rank = 0; rank < map.ranks(); ++rank)
    domains.push_back(map.domain_of(Rank(rank)).value());
  append_text(records_, fmt::format(R"({{"id": {}, "name": {}, "keys": {}, "home": {}, "domains": [{}]}})",
                                    table.id().index(), json_string(table.name()), keys,
                                    json_string(home_map_name(table.definition().homes.kind())),
                                    fmt::join(domains, ", ")));
  if (keys > 0) {
    watch.selection().for_each(keys, [&](Key key) {
      if (!table.serves(key)) return;
      if (const std::uint8_t state = trace_state(table.store().word(key).role()); state != 0)
        append_change(watch, key, state);
    });
  }
  table.store().set_role_watch(&watch);
}

void AllocationTrace::begin_phase(std::string_view name) {
  begin_record(static_cast<std::uint8_t>(TraceRecord::begin));
  append_text(records_, name);
}

void AllocationTrace::end_phase() {
  begin_record(static_cast<std::uint8_t>(TraceRecord::end));
  flush();
}

void AllocationTrace::add_clock(ClockBounds bounds) {
  begin_record(static_cast<std::uint8_t>(TraceRecord::clock));
  append_signed(records_, bounds.lowest);
  append_signed(records_, bounds.highest);
}

std::string AllocationTrace::close() {
  if (file_ != nullptr) {
    begin_record(static_cast<std::uint8_t>(TraceRecord::close));
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

}  // namespace lapse

#include "apps/viewer/rank_trace.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "lapse/core/file_error.hpp"
#include "lapse/core/tracing/allocation_records.hpp"

namespace lapse::apps {

namespace {

using nlohmann::json;

constexpr std::int64_t kMaxClock = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kMaxTicks = std::numeric_limits<std::int64_t>::max() / kTraceTickNanoseconds / 4;

class TraceParser {
 public:
  TraceParser(std::string_view bytes, const std::string& path) : path_(path), bytes_(bytes) {}

  // Of the header alone.
  RankTrace parse_header() {
    TraceBytes records = begin();
    if (records.at_end() || !take(records)) fail("the trace has no header");
    return std::move(trace_);
  }

  RankTrace parse() {
    TraceBytes records = begin();
    while (!records.at_end() && !trace_.is_closed) {
      position_ = kAllocationMagic.size() + records.position();
      if (take(records)) continue;
      if (records.is_damaged()) fail("a number or a text is too long");
      break;  // cut off
    }
    if (!has_header_) fail("the trace has no header");
    trace_.end = now();
    return std::move(trace_);
  }

 private:
  // What follows the magic bytes.
  TraceBytes begin() const {
    if (bytes_.substr(0, kAllocationMagic.size()) != kAllocationMagic) {
      const bool other = bytes_.substr(0, kAllocationMagic.size() - 1) ==
                         kAllocationMagic.substr(0, kAllocationMagic.size() - 1);
      throw FileError(path_, other ? "this trace of allocation is of another version than this program reads"
                                   : "this is no trace of allocation, which begins with LAPSETR1");
    }
    return TraceBytes(bytes_.substr(kAllocationMagic.size()));
  }
  [[noreturn]] void fail(std::string_view problem) const {
    throw FileError(path_, fmt::format("damaged at byte {}: {}", position_, problem));
  }

  std::int64_t now() const { return ticks_ * kTraceTickNanoseconds; }

  // Returns false if the record is incomplete.
  bool take(TraceBytes& records) {
    const std::uint8_t kind = *records.byte();
    if (!has_header_ && kind != static_cast<std::uint8_t>(TraceRecord::header))
      fail("the trace does not begin with its header");
    if (kind >= kRoleRecord) return take_event(records, kind);
    switch (static_cast<TraceRecord>(kind)) {
      case TraceRecord::header:
      case TraceRecord::table: {
        const bool timed = kind == static_cast<std::uint8_t>(TraceRecord::header) || take_time(records);
        const auto text = timed ? records.text() : std::nullopt;
        if (!text) return false;
        take_json(static_cast<TraceRecord>(kind), *text);
        return true;
      }
      case TraceRecord::on_table: {
        const auto id = records.number();
        if (!id) return false;
        choose_table(*id);
        return true;
      }
      case TraceRecord::begin: {
        const bool timed = take_time(records);
        const auto text = records.text();
        if (!timed || !text) return false;
        trace_.phases.push_back({.name = std::string(*text), .begin = now(), .end = now()});
        is_in_phase_ = true;
        return true;
      }
      case TraceRecord::end:
        if (!take_time(records)) return false;
        if (!is_in_phase_) fail("a phase ends that has not begun");
        trace_.phases.back().end = now();
        is_in_phase_ = false;
        return true;
      case TraceRecord::dropped:
        if (!take_time(records)) return false;
        trace_.dropped = now();
        return true;
      case TraceRecord::clock: {
        const bool timed = take_time(records);
        const auto lowest = records.signed_number();
        const auto highest = records.signed_number();
        if (!timed || !lowest || !highest) return false;
        if (*lowest > *highest || *lowest < -kMaxClock || *highest > kMaxClock)
          fail("the bounds of the clock are none");
        trace_.clocks.push_back({.time = now(), .lowest = *lowest, .highest = *highest});
        return true;
      }
      case TraceRecord::round:
        if (!take_time(records)) return false;
        trace_.rounds.push_back(now());
        return true;
      case TraceRecord::band: {
        const bool timed = take_time(records);
        const auto end = records.number();
        const auto begin = records.number();
        const auto text = records.text();
        if (!timed || !end || !begin || !text) return false;
        if (*begin > static_cast<std::uint64_t>(ticks_) || *end > *begin)
          fail("a band begins before the clock, or after its end");
        const auto before = [&](std::uint64_t ticks) {
          return now() - static_cast<std::int64_t>(ticks) * kTraceTickNanoseconds;
        };
        trace_.bands.push_back({.name = std::string(*text), .begin = before(*begin), .end = before(*end)});
        return true;
      }
      case TraceRecord::note: {
        const bool timed = take_time(records);
        const auto name = records.text();
        const auto value = records.text();
        if (!timed || !name || !value) return false;
        trace_.notes.insert_or_assign(std::string(*name), std::string(*value));
        return true;
      }
      case TraceRecord::close:
        trace_.is_closed = take_time(records);
        return trace_.is_closed;
    }
    fail(fmt::format("there is no record of kind {}", kind));
  }

  bool take_time(TraceBytes& records) {
    const auto ticks = records.number();
    if (!ticks) return false;
    if (*ticks > static_cast<std::uint64_t>(kMaxTicks - ticks_)) fail("the time is too large");
    ticks_ += static_cast<std::int64_t>(*ticks);
    return true;
  }

  // Something happens to a key.
  bool take_event(TraceBytes& records, std::uint8_t kind) {
    const bool is_access = kind >= kAccessRecord && kind < kAccessRecord + kTraceAccesses;
    if (kind >= kWantRecord + 2 && !is_access) fail(fmt::format("there is no record of kind {}", kind));
    if (trace_.tables.empty() || !table_) fail("an event of a key is of no table");
    if (!take_time(records)) return false;
    const auto step = records.signed_number();
    if (!step) return false;
    std::uint64_t& key = last_keys_[*table_];
    key += static_cast<std::uint64_t>(*step);
    const std::uint64_t keys = trace_.tables[*table_].keys;
    if (keys > 0 && key >= keys) fail(fmt::format("the table has {} keys, not key {}", keys, key));
    if (is_access) {
      trace_.accesses.push_back({.time = now(),
                                 .key = key,
                                 .table = *table_,
                                 .kind = static_cast<std::uint8_t>(kind - kAccessRecord)});
    } else if (kind >= kWantRecord) {
      trace_.wants.push_back({.time = now(), .key = key, .table = *table_, .on = kind != kWantRecord});
    } else {
      trace_.changes.push_back({.time = now(),
                                .key = key,
                                .table = *table_,
                                .state = static_cast<std::uint8_t>(kind - kRoleRecord)});
    }
    return true;
  }

  void choose_table(std::uint64_t id) {
    for (std::uint32_t i = 0; i < trace_.tables.size(); ++i) {
      if (trace_.tables[i].id == id) {
        table_ = i;
        return;
      }
    }
    fail(fmt::format("there is no table {}", id));
  }

  void take_json(TraceRecord kind, std::string_view text) {
    try {
      const json values = json::parse(text);
      if (kind == TraceRecord::header) {
        take_header(values);
      } else {
        take_table(values);
      }
    } catch (const json::exception& error) {
      fail(error.what());
    }
  }

  void take_header(const json& values) {
    if (has_header_) fail("the trace has a second header");
    trace_.rank = values.at("rank").get<std::int32_t>();
    trace_.hosts = values.at("hosts").get<std::vector<std::int32_t>>();
    trace_.host = values.at("host").get<std::string>();
    trace_.begin = values.at("start").get<std::int64_t>();
    if (trace_.rank < 0 || static_cast<std::size_t>(trace_.rank) >= trace_.hosts.size())
      fail(fmt::format("rank {} is not one of {}", trace_.rank, trace_.hosts.size()));
    ticks_ = trace_.begin / kTraceTickNanoseconds;
    if (ticks_ < 0 || ticks_ > kMaxTicks) fail("the time is too large");
    has_header_ = true;
  }

  void take_table(const json& values) {
    RankTable table{.made = now(),
                    .id = values.at("id").get<std::uint64_t>(),
                    .name = values.at("name").get<std::string>(),
                    .keys = values.at("keys").get<std::uint64_t>(),
                    .home = values.at("home").get<std::string>(),
                    .value_bytes = values.value("value_bytes", std::uint64_t{0}),
                    .content_bytes = values.value("content_bytes", std::uint64_t{0}),
                    .delta_bytes = values.value("delta_bytes", std::uint64_t{0}),
                    .may_have_replicas = values.value("replicas", true),
                    .domains = values.at("domains").get<std::vector<std::int32_t>>()};
    if (table.domains.size() != trace_.hosts.size()) fail("the table has not a domain for each rank");
    for (const std::int32_t domain : table.domains) {
      if (domain < 0 || static_cast<std::size_t>(domain) >= trace_.hosts.size())
        fail(fmt::format("there is no domain {}", domain));
    }
    trace_.tables.push_back(std::move(table));
    last_keys_.push_back(0);
  }

  const std::string& path_;
  const std::string_view bytes_;
  RankTrace trace_;
  std::vector<std::uint64_t> last_keys_;  // of each table
  std::optional<std::uint32_t> table_;
  std::int64_t ticks_ = 0;
  std::size_t position_ = 0;
  bool has_header_ = false;
  bool is_in_phase_ = false;
};

}  // namespace

RankTrace parse_rank_trace(std::string_view bytes, const std::string& path) {
  return TraceParser(bytes, path).parse();
}

std::string trace_file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw FileError(path, "cannot be read");
  return bytes;
}

RankTrace read_rank_header(const std::string& path) {
  constexpr std::streamsize kUsualHeader = 65536;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string bytes(kUsualHeader, '\0');
  file.read(bytes.data(), kUsualHeader);
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return TraceParser(bytes, path).parse_header();
}

RankTrace read_rank_trace(const std::string& path) {
  return parse_rank_trace(trace_file_bytes(path), path);
}

}  // namespace lapse::apps

// The viewer of traces of allocation: its reader, merge, answers and page.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "apps/viewer/allocation.hpp"
#include "apps/viewer/commands.hpp"
#include "apps/viewer/page_file.hpp"
#include "apps/viewer/rank_trace.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/tracing/allocation_records.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;

namespace {

// The trace of a rank, record by record.
class TraceBuilder {
 public:
  TraceBuilder(int rank, const std::string& hosts, std::int64_t start) {
    bytes_ = kAllocationMagic;
    text(TraceRecord::header, R"({"lapse": "0", "rank": )" + std::to_string(rank) + R"(, "hosts": [)" +
                                  hosts + R"(], "host": "h", "start": )" + std::to_string(start) + "}");
  }
  TraceBuilder& table(int id, const std::string& name, int keys, const std::string& domains) {
    timed(static_cast<std::uint8_t>(TraceRecord::table), 0);
    append_text(bytes_, R"({"id": )" + std::to_string(id) + R"(, "name": ")" + name + R"(", "keys": )" +
                            std::to_string(keys) + R"(, "home": "hash", "domains": [)" + domains + "]}");
    return on_table(id);
  }
  TraceBuilder& on_table(int id) {
    kind(static_cast<std::uint8_t>(TraceRecord::on_table));
    append_number(bytes_, static_cast<std::uint64_t>(id));
    return *this;
  }
  TraceBuilder& change(std::uint64_t ticks, std::int64_t key_step, std::uint8_t state) {
    timed(kRoleRecord | state, ticks);
    append_signed(bytes_, key_step);
    return *this;
  }
  TraceBuilder& begin(std::uint64_t ticks, const std::string& name) {
    timed(static_cast<std::uint8_t>(TraceRecord::begin), ticks);
    append_text(bytes_, name);
    return *this;
  }
  TraceBuilder& band(std::uint64_t ticks, std::uint64_t end, std::uint64_t begin, const std::string& name) {
    timed(static_cast<std::uint8_t>(TraceRecord::band), ticks);
    append_number(bytes_, end);
    append_number(bytes_, begin);
    append_text(bytes_, name);
    return *this;
  }
  TraceBuilder& note(const std::string& name, const std::string& value) {
    timed(static_cast<std::uint8_t>(TraceRecord::note), 0);
    append_text(bytes_, name);
    append_text(bytes_, value);
    return *this;
  }
  TraceBuilder& end(std::uint64_t ticks) { return timed(static_cast<std::uint8_t>(TraceRecord::end), ticks); }
  TraceBuilder& clock(std::uint64_t ticks, std::int64_t lowest, std::int64_t highest) {
    timed(static_cast<std::uint8_t>(TraceRecord::clock), ticks);
    append_signed(bytes_, lowest);
    append_signed(bytes_, highest);
    return *this;
  }
  std::string close(std::uint64_t ticks) {
    timed(static_cast<std::uint8_t>(TraceRecord::close), ticks);
    return bytes_;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void kind(std::uint8_t number) { bytes_ += static_cast<char>(number); }
  void text(TraceRecord record, const std::string& json) {
    kind(static_cast<std::uint8_t>(record));
    append_text(bytes_, json);
  }
  TraceBuilder& timed(std::uint8_t number, std::uint64_t ticks) {
    kind(number);
    append_number(bytes_, ticks);
    return *this;
  }

  std::string bytes_;
};

// Two ranks, domain 0 and 1. Key 3: from 0 to 1 and back; key 900: owned by 1, which gives it away and gets
// it back, and copied to 0.
std::string trace_of_first() {
  return TraceBuilder(0, "0, 0", 1000)
      .table(2, "t", 1000, "0, 1")
      .change(0, 3, kTraceOwner)
      .begin(10, "run_workers")
      .change(10, 0, 0)
      .change(10, 897, kTraceAwaited)
      .change(10, 0, kTraceCopy)
      .change(20, -897, kTraceOwner)
      .change(5, 897, 0)
      .end(5)
      .close(10);
}
std::string trace_of_second() {
  return TraceBuilder(1, "0, 0", 1000)
      .table(2, "t", 1000, "0, 1")
      .change(0, 900, kTraceOwner)
      .change(22, -897, kTraceOwner)
      .change(30, 0, 0)
      .change(1, 897, 0)
      .change(1, 0, kTraceOwner)
      .close(18);
}

Allocation example() {
  return merge_traces(
      {parse_rank_trace(trace_of_second(), "t.1"), parse_rank_trace(trace_of_first(), "t.0")});
}

template <class Print>
std::string printed(Print&& print) {
  std::FILE* const file = std::tmpfile();
  print(file);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

}  // namespace

TEST_CASE("numbers of a trace survive, and are refused where they are none") {
  RandomEngine random(1);
  std::string bytes;
  std::vector<std::uint64_t> numbers{0, 127, 128, ~std::uint64_t{0}};
  for (int i = 0; i < 200; ++i) numbers.push_back(random() >> random.below(64));
  for (const std::uint64_t number : numbers) {
    append_number(bytes, number);
    append_signed(bytes, static_cast<std::int64_t>(number));
  }
  TraceBytes reader(bytes);
  for (const std::uint64_t number : numbers) {
    CHECK(reader.number() == number);
    CHECK(reader.signed_number() == static_cast<std::int64_t>(number));
  }
  CHECK(reader.at_end());
  CHECK_FALSE(reader.number().has_value());
  CHECK_FALSE(TraceBytes(std::string(10, '\xff')).number().has_value());
  CHECK_FALSE(TraceBytes("\x05only").text().has_value());
}

TEST_CASE("ranks' traces are merged: owners, relocations and replicas by time") {
  const Allocation allocation = example();
  REQUIRE(allocation.tables.size() == 1);
  const TableAllocation& table = allocation.tables[0];
  const auto relocations = relocations_of(table);
  REQUIRE(relocations.size() == 2);
  CHECK(relocations[0].time == 2200);
  CHECK(relocations[0].from == 0);
  CHECK(relocations[0].to == 1);
  CHECK(relocations[1].time == 6000);
  CHECK(relocations[1].to == 0);
  CHECK(states_at(table, 3, 0) == std::vector<std::uint8_t>{kTraceOwner, 0});
  CHECK(states_at(table, 3, 2100) == std::vector<std::uint8_t>{0, 0});
  CHECK(states_at(table, 3, 2200) == std::vector<std::uint8_t>{0, kTraceOwner});
  CHECK(states_at(table, 900, 4500) == std::vector<std::uint8_t>{kTraceCopy, kTraceOwner});
  CHECK(states_at(table, 900, 7000) == std::vector<std::uint8_t>{0, kTraceOwner});
  const auto moves = moves_of(table);
  REQUIRE(moves.size() == 1);
  CHECK(moves[0].relocations == 2);
  CHECK(moves[0].returns == 1);
  REQUIRE(allocation.phases.size() == 1);
  CHECK(allocation.phases[0].begin == 1000);
  CHECK(allocation.phases[0].end == 7000);
  CHECK(allocation.duration == 8000);
}

TEST_CASE("a run has bands and notes of rank 0") {
  const auto trace = [](int rank) {
    return TraceBuilder(rank, "0, 0", 1000)
        .table(0, "t", 9, "0, 1")
        .note("task", "first")
        .band(35, 5, 25, rank == 0 ? "epoch 1" : "another")
        .note("task", rank == 0 ? "ratings" : "another")
        .close(10);
  };
  const Allocation allocation =
      merge_traces({parse_rank_trace(trace(0), "t.0"), parse_rank_trace(trace(1), "t.1")});
  REQUIRE(allocation.bands.size() == 1);
  CHECK(allocation.bands[0].name == "epoch 1");
  CHECK(allocation.bands[0].begin == 1000);
  CHECK(allocation.bands[0].end == 3000);
  CHECK(allocation.notes == std::map<std::string, std::string>{{"task", "ratings"}});
  const std::string text = printed([&](std::FILE* out) { print_trace_summary(allocation, out); });
  CHECK_THAT(text, Contains("task: ratings") && Contains("epoch 1: 0.000 s to 0.000 s"));
  CHECK_THROWS_WITH(parse_rank_trace(TraceBuilder(0, "0", 0).band(3, 0, 4, "x").bytes(), "t.0"),
                    Contains("a band begins before the clock"));
}

TEST_CASE("clocks of other hosts are corrected by their bounds, as they drift") {
  const auto trace = [](int rank, std::int64_t start, std::int64_t first, std::int64_t last) {
    return parse_rank_trace(TraceBuilder(rank, "0, 1", start)
                                .table(0, "t", 10, "0, 1")
                                .clock(0, first - 50, first + 50)
                                .change(500, 1, rank == 0 ? kTraceOwner : kTraceCopy)
                                .clock(500, last - 50, last + 50)
                                .close(0),
                            "t");
  };
  // Rank 1's clock is 40 us ahead at first, and 60 us at the end.
  const Allocation allocation = merge_traces({trace(0, 0, 0, 0), trace(1, 40'000, 40'000, 60'000)});
  const auto& changes = allocation.tables[0].changes;
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].domain == 1);
  CHECK(changes[0].time == 40'000);
  CHECK(changes[1].time == 50'000);
}

TEST_CASE("ranks of a host have one clock, within the bounds of all of them") {
  const auto trace = [](int rank, std::int64_t lowest, std::int64_t highest, std::uint64_t at) {
    return parse_rank_trace(TraceBuilder(rank, "0, 1, 1", 0)
                                .table(0, "t", 10, "0, 1, 2")
                                .clock(0, lowest, highest)
                                .change(at, 1, kTraceOwner)
                                .close(0),
                            "t");
  };
  const Allocation allocation =
      merge_traces({trace(0, -9, 9, 0), trace(1, -20'000, 0, 100), trace(2, 0, 20'000, 101)});
  const auto& changes = allocation.tables[0].changes;
  REQUIRE(changes.size() == 3);
  CHECK(changes[1].domain == 1);
  CHECK(changes[1].time == 10'000);
  CHECK(changes[2].time == 10'100);
}

TEST_CASE("a trace that is cut off is read up to there; other damage is refused with its place") {
  const std::string whole = trace_of_first();
  std::size_t changes = 0;
  std::size_t read = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      const RankTrace trace = parse_rank_trace(std::string_view(whole).substr(0, size), "cut");
      CHECK(trace.changes.size() >= changes);
      CHECK_FALSE(trace.is_closed);
      changes = trace.changes.size();
      ++read;
    } catch (const FileError& error) {
      CHECK(changes == 0);
    }
  }
  CHECK(changes == 6);
  CHECK(read > 20);
  const auto parse = [](const std::string& bytes) { return parse_rank_trace(bytes, "file.0"); };
  CHECK_THROWS_WITH(parse("PNG"), Contains("file.0") && Contains("no trace of allocation"));
  CHECK_THROWS_WITH(parse("LAPSETR2"), Contains("another version"));
  CHECK_THROWS_WITH(parse(std::string(kAllocationMagic)), Contains("no header"));
  TraceBuilder builder(0, "0", 0);
  CHECK_THROWS_WITH(parse(TraceBuilder(builder).change(0, 1, kTraceOwner).bytes()), Contains("no table"));
  CHECK_THROWS_WITH(parse(TraceBuilder(builder).on_table(4).bytes()), Contains("no table 4"));
  CHECK_THROWS_WITH(parse(TraceBuilder(builder).end(0).bytes()), Contains("not begun"));
  CHECK_THROWS_WITH(parse(builder.bytes() + '\x7f'), Contains("kind 127"));
  CHECK_THROWS_WITH(parse(TraceBuilder(builder).table(0, "t", 5, "0").change(0, 5, 1).bytes()),
                    Contains("5 keys, not key 5"));
  CHECK_THROWS_WITH(parse(TraceBuilder(builder).table(0, "t", 5, "0, 1").bytes()),
                    Contains("domain for each rank"));
  CHECK_THROWS_WITH(parse(TraceBuilder(0, "", 0).bytes()), Contains("rank 0"));
  CHECK_THROWS_WITH(parse(builder.bytes() + '\x05' + std::string(10, '\xff')), Contains("too long"));
  CHECK_THROWS_WITH(parse(builder.bytes() + "\x01\xff\xff\xff\xff\x7f"), Contains("too long"));
  CHECK_THROWS_WITH(parse(TraceBuilder(builder).clock(0, 5, 4).bytes()), Contains("bounds of the clock"));
  CHECK_THROWS_WITH(parse(TraceBuilder(builder).clock(0, 0, std::int64_t{1} << 62).bytes()),
                    Contains("bounds of the clock"));
}

TEST_CASE("damaged traces are read or refused") {
  RandomEngine random(7);
  const std::string whole = trace_of_first();
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = whole;
    for (std::uint64_t i = 0; i <= random.below(3); ++i)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    try {
      merge_traces({parse_rank_trace(bytes, "t.0"), parse_rank_trace(trace_of_second(), "t.1")});
    } catch (const Error&) {
    }
  }
  SUCCEED("no crash");
}

TEST_CASE("traces that are not of one run are refused") {
  const auto first = parse_rank_trace(trace_of_first(), "t.0");
  CHECK_THROWS_WITH(merge_traces({first}), Contains("rank 1 of 2 is missing"));
  CHECK_THROWS_WITH(merge_traces({first, first}), Contains("two traces of rank 0"));
  const auto other = parse_rank_trace(TraceBuilder(1, "0, 1", 0).bytes(), "t.1");
  CHECK_THROWS_WITH(merge_traces({first, other}), Contains("different runs"));
  const auto smaller = parse_rank_trace(TraceBuilder(1, "0, 0", 0).table(0, "t", 5, "0, 1").bytes(), "t.1");
  CHECK_THROWS_WITH(merge_traces({first, smaller}), Contains("different tables 't'"));
}

TEST_CASE("questions about a trace are answered") {
  const Allocation allocation = example();
  const TableAllocation& table = chosen_table(allocation, "");
  CHECK_THROWS_WITH(chosen_table(allocation, "none"), Contains("no table 'none'") && Contains("'t'"));
  CHECK_THAT(printed([&](std::FILE* out) { print_trace_summary(allocation, out); }),
             Contains("2 ranks on 1 hosts") && Contains("1 keys moved, 2 relocations, 1 of them back") &&
                 Contains("1 replicas set up"));
  CHECK_THAT(printed([&](std::FILE* out) { print_key(table, 900, 5e-6, out); }),
             Contains("owned by domain 1, replicas in domains [0]"));
  CHECK_THAT(printed([&](std::FILE* out) { print_key(table, 3, 2.1e-6, out); }), Contains("on its way"));
  CHECK_THAT(printed([&](std::FILE* out) { print_key(table, 3, {}, out); }), Contains("domain 1    owns it"));
  CHECK_THAT(printed([&](std::FILE* out) { print_moves(table, 5, true, out); }),
             Contains("3             2             1"));
  CHECK_THAT(printed([&](std::FILE* out) { print_rates(allocation, table, 2, out); }), Contains("250000"));
}

TEST_CASE("a page has its runs' files, and no text of them as HTML") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
  const lapse::test::TemporaryDirectory directory;
  const std::vector<std::string> paths{directory.write("t.0", trace_of_first()),
                                       directory.write("t.1", trace_of_second())};
  const std::string page = page_of({{.name = "\"><script>alert(1)</script>", .paths = paths}});
  CHECK_THAT(page, !Contains("<script>alert"));
  CHECK_THAT(page,
             Contains("data-run=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\" data-file=\"t.0\">" +
                      base64(trace_of_first()) + "</script>"));
  CHECK_THAT(page, !Contains("import {") && !Contains("\nexport ") && !Contains("@RUNS@"));
  CHECK_THROWS_AS(page_of({{.name = "x", .paths = {directory.write("bad.0", "bad")}}}), FileError);
  CHECK_THROWS_WITH(page_of({{.name = "x", .paths = paths}, {.name = "x", .paths = paths}}),
                    Contains("two runs 'x'"));
  CHECK_THROWS_WITH(page_of({{.name = "x", .paths = {paths[0]}}}), Contains("rank 1 of 2 is missing"));
  const std::string many = directory.write("m.0", TraceBuilder(0, "0", 0).table(0, "t", 5, "0").close(1));
  CHECK_NOTHROW(page_of({{.name = "x", .paths = {many}}}));
}

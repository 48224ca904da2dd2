// Counters and statistics: addition, serialisation, shares, JSON and text.
#include "lapse/core/statistics.hpp"

#include <algorithm>
#include <set>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics/access_shares.hpp"
#include "lapse/core/statistics/counters.hpp"
#include "lapse/core/statistics/readable_numbers.hpp"
#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using lapse::RankCounters;
using lapse::Statistics;
using lapse::TableCounters;
using lapse::TableId;

namespace {

// Every counter has a value of its own.
template <class Counters>
Counters numbered(std::uint64_t first) {
  Counters counters;
  for (const auto& field : lapse::counter_fields<Counters>()) counters.*field.member = first++;
  return counters;
}

Statistics sample() {
  return {.table_names = {"factors", "odd \"name\"\n"},
          .ranks = {{.counters = numbered<RankCounters>(100), .tables = {numbered<TableCounters>(1), {}}},
                    {.counters = numbered<RankCounters>(50), .tables = {numbered<TableCounters>(1000), {}}}}};
}

}  // namespace

TEST_CASE("counters add up, maxima do not") {
  TableCounters sum = numbered<TableCounters>(1);
  sum += numbered<TableCounters>(1000);
  for (std::size_t i = 0; i < lapse::kTableCounterFields.size(); ++i) {
    const auto& field = lapse::kTableCounterFields[i];
    CAPTURE(field.name);
    CHECK(sum.*field.member == (field.merge == lapse::CounterMerge::maximum ? 1000 + i : 1001 + 2 * i));
  }
  TableCounters reverse = numbered<TableCounters>(1000);
  reverse += numbered<TableCounters>(1);
  CHECK(reverse == sum);
  CHECK((RankCounters{.messages_sent = 1, .helper_turns = 2} += RankCounters{.messages_sent = 10}) ==
        RankCounters{.messages_sent = 11, .helper_turns = 2});
}

TEST_CASE("the tables of fields name every field once") {
  std::set<std::string_view> names;
  for (const auto& field : lapse::kTableCounterFields) names.insert(field.name);
  for (const auto& field : lapse::kRankCounterFields) names.insert(field.name);
  CHECK(names.size() == lapse::kTableCounterFields.size() + lapse::kRankCounterFields.size());
  // Their members differ, too: otherwise two fields would have one number.
  const auto counters = numbered<TableCounters>(1);
  for (std::size_t i = 0; i < lapse::kTableCounterFields.size(); ++i) {
    CHECK(counters.*lapse::kTableCounterFields[i].member == i + 1);
  }
}

TEST_CASE("statistics are collected from all ranks") {
  const Statistics expected = sample();
  const Statistics statistics = Statistics::collect(expected.table_names, expected.ranks);
  CHECK(statistics.ranks == expected.ranks);
  CHECK(statistics.table_total(TableId{0}).operations == 1001);
  CHECK(statistics.rank_total().messages_sent == 150);
  CHECK_THROWS_WITH(Statistics::collect({"factors"}, expected.ranks),
                    Contains("rank 0 sent the statistics of 2 tables"));
  CHECK_THROWS_AS(statistics.table_total(TableId{2}), lapse::UsageError);
}

TEST_CASE("the local share is that of accesses to memory among all") {
  Statistics statistics{.table_names = {"t"}, .ranks = {{.counters = {}, .tables = {{}}}}};
  CHECK_FALSE(statistics.local_share(TableId{0}));
  statistics.ranks[0].tables[0] = {
      .local_pulls = 3, .local_pushes = 2, .queued_accesses = 1, .remote_pulls = 1, .remote_pushes = 3};
  CHECK(statistics.local_share(TableId{0}).value() == Approx(0.5));
}

TEST_CASE("Shares are those of keys in main copies, other copies, queues and messages, and of operations") {
  const TableCounters counters{.operations = 4,
                               .remote_operations = 1,
                               .local_pulls = 6,
                               .local_pushes = 4,
                               .queued_accesses = 2,
                               .remote_pulls = 3,
                               .remote_pushes = 5,
                               .copy_pulls = 2,
                               .copy_pushes = 3};
  const auto shares = lapse::access_shares(counters);
  REQUIRE(shares);
  CHECK(shares->main == Approx(0.25));
  CHECK(shares->copy == Approx(0.25));
  CHECK(shares->queued == Approx(0.1));
  CHECK(shares->remote == Approx(0.4));
  CHECK(shares->remote_operations == Approx(0.25));
  CHECK_FALSE(lapse::access_shares(TableCounters{}));
}

TEST_CASE("Statistics print shares, copies over time and messages by kind, of each rank and in total") {
  Statistics statistics{.table_names = {"t"}, .ranks = {{}, {}}};
  statistics.ranks[0].tables = {
      {.operations = 2, .remote_operations = 1, .local_pulls = 1, .remote_pulls = 1}};
  statistics.ranks[1].tables = {{.operations = 1,
                                 .local_pulls = 2,
                                 .copy_pulls = 1,
                                 .read_samples = 2,
                                 .stale_versions = 3,
                                 .stale_nanoseconds = 5'000'000}};
  statistics.ranks[0].kinds = {{"pull", 1, 48, 0, 0}};
  statistics.ranks[1].kinds = {{"pull", 0, 0, 1, 48}, {"refresh", 4, 200, 0, 0}};
  statistics.ranks[1].copies = {
      {.seconds = 1, .copies = {0}}, {.seconds = 2, .copies = {6}}, {.seconds = 4, .copies = {1}}};
  const std::string json = statistics.to_json();
  CHECK_THAT(json, Contains(R"("main_share": 0.500000, "copy_share": 0.250000, "queued_share": 0.000000, )"
                            R"("remote_share": 0.250000, "remote_operation_share": 0.333333, )"
                            R"("mean_stale_versions": 1.500, "mean_stale_seconds": 0.002500000})"));
  CHECK_THAT(json, Contains(R"("remote_share": 0.500000, "remote_operation_share": 0.500000)"));
  CHECK_THAT(json, Contains(R"("copies": [[], [[1.000, 0], [2.000, 6], [4.000, 1]]])"));
  CHECK_THAT(json, Contains(R"("messages": {"total": {"pull": {"records_sent": 1, "bytes_sent": 48, )"
                            R"("records_received": 1, "bytes_received": 48}, "refresh": )"));
  const std::string text = statistics.to_text();
  CHECK_THAT(text, Contains("remote_operation_share  33.33 %\n"));
  CHECK_THAT(text, Contains("mean_stale_time         2.50 ms\n"));
  CHECK_THAT(text, Contains("stale_time              5.00 ms\n"));
  CHECK_THAT(text, Contains("remote_share              0.00 %        1   50.00 %        0\n"));
  CHECK_THAT(text, Contains("copies, mean over time         4        1         4        1\n"));
  CHECK_THAT(text, Contains("pull                 1          48                 1              48\n"));
}

TEST_CASE("the text begins with five lines for a person, with times and sizes in units that fit") {
  Statistics statistics{.table_names = {"a", "b"}, .ranks = {{}, {}}};
  statistics.ranks[0].counters = {.messages_sent = 3, .bytes_sent = 1'250'000};
  statistics.ranks[0].tables = {{.operations = 7,
                                 .local_pulls = 6,
                                 .queued_accesses = 1,
                                 .remote_pushes = 1,
                                 .relocations_in = 2,
                                 .relocation_nanoseconds = 90'000,
                                 .relocation_max_nanoseconds = 60'000,
                                 .bytes_here = 400},
                                {.operations = 1, .bytes_here = 100}};
  statistics.ranks[1].tables = {
      {.copies_in = 1, .read_samples = 2, .stale_nanoseconds = 5'000'000, .copies_here = 1},
      {.local_pulls = 2, .copy_pulls = 1}};
  CHECK(statistics.to_text().starts_with(
      "job          2 ranks, 2 tables with 500 B of values; 8 operations\n"
      "accesses     80.00 % in memory at once (10.00 % in copies), 10.00 % in memory after a wait, 10.00 % "
      "by "
      "message\n"
      "messages     3 were sent with 1.25 MB\n"
      "relocations  2 keys have moved, 45.0 us from request to arrival in the mean, 60.0 us at most\n"
      "copies       1 was made, 1 now; when read, 2.50 ms after their last refresh in the mean\n"
      "\ntotal over ranks "));
  CHECK(
      Statistics{}.to_text().starts_with("job          0 ranks, 0 tables with 0 B of values; 0 operations\n"
                                         "accesses     none\nmessages     0 were sent with 0 B\n"
                                         "relocations  none\ncopies       none\n\n"));
}

TEST_CASE("times and sizes have three digits and the unit that fits") {
  CHECK(lapse::readable_time(0) == "0.00 us");
  CHECK(lapse::readable_time(350) == "0.35 us");
  CHECK(lapse::readable_time(9994) == "9.99 us");
  CHECK(lapse::readable_time(9996) == "10.0 us");
  CHECK(lapse::readable_time(999'499) == "999 us");
  CHECK(lapse::readable_time(999'501) == "1.00 ms");
  CHECK(lapse::readable_time(2.5e9) == "2.50 s");
  CHECK(lapse::readable_time(3.6e12) == "3600 s");
  CHECK(lapse::readable_bytes(999) == "999 B");
  CHECK(lapse::readable_bytes(1000) == "1.00 KB");
  CHECK(lapse::readable_bytes(~std::uint64_t{0}) == "18446744 TB");
}

TEST_CASE("JSON has every counter of every rank and table") {
  const std::string json = sample().to_json();
  CHECK_THAT(json, Contains(R"({"ranks": 2, "total": {"messages_sent": 150, "messages_received": 152,)"));
  CHECK_THAT(json, Contains(R"("per_rank": [{"messages_sent": 100,)"));
  CHECK_THAT(json, Contains(R"({"name": "factors", "local_share": 0.398811)"));
  CHECK_THAT(json, Contains(R"("name": "odd \"name\"\u000a", "local_share": null)"));
  for (const auto& field : lapse::kTableCounterFields) {
    std::size_t found = 0;
    const std::string name = '"' + std::string(field.name) + "\": ";
    for (std::size_t at = json.find(name); at != std::string::npos; at = json.find(name, at + 1)) ++found;
    CHECK(found == 6);  // Two tables: total and two ranks.
  }
  CHECK(std::count(json.begin(), json.end(), '{') == std::count(json.begin(), json.end(), '}'));
}

TEST_CASE("the text is aligned and shows the extremes") {
  Statistics statistics = sample();
  statistics.table_names[1] = "biases";
  const std::string text = statistics.to_text();
  CHECK_THAT(text, Contains("total over ranks         factors   biases\n"));
  CHECK_THAT(text, Contains("operations                  1001        0\n"));
  CHECK_THAT(text, Contains("local_share              39.88 %        -\n"));
  CHECK_THAT(text, Contains("messages_sent        150        50        1      100        0\n"));
}

TEST_CASE("the text has counts of what limits of pushes did where a table has such limits") {
  Statistics statistics{.table_names = {"plain", "limited"}, .ranks = {{}}};
  statistics.ranks[0].tables = {{.local_pushes = 5}, {.local_pushes = 7}};
  const std::string without = statistics.to_text();
  CHECK(without.find("checked_rows") == std::string::npos);
  CHECK(without.find("not_finite_rows") == std::string::npos);
  CHECK(without.find("clipped_rows") == std::string::npos);
  statistics.ranks[0].tables[1].checked_rows = 7;
  statistics.ranks[0].tables[1].clipped_rows = 3;
  // Compared by line, ignoring the number of blanks.
  const auto line_of = [text = statistics.to_text()](const std::string& name) {
    const std::size_t begin = text.find(name);
    REQUIRE(begin != std::string::npos);
    std::string line = text.substr(begin, text.find('\n', begin) - begin);
    line.erase(std::unique(line.begin(), line.end(), [](char x, char y) { return x == ' ' && y == ' '; }),
               line.end());
    return line;
  };
  CHECK(line_of("checked_rows") == "checked_rows 0 7");
  CHECK(line_of("not_finite_rows") == "not_finite_rows 0 0");
  CHECK(line_of("clipped_rows") == "clipped_rows 0 3");
}

TEST_CASE("statistics without tables or ranks can be printed") {
  const Statistics nothing;
  CHECK_THAT(nothing.to_text(), Contains("messages_sent"));
  CHECK(nothing.to_json().ends_with(R"("per_rank": []}, "tables": []})"));
}

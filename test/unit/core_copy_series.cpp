// Numbers that change over time, stored in bounded memory.
#include "lapse/core/statistics/copy_series.hpp"

#include "test/support/catch.hpp"

using lapse::CopySeries;
using lapse::CopySummary;
using lapse::summarize;

TEST_CASE("A series keeps a bounded number of samples, evenly spaced, however long it goes on") {
  const CopySeries::Clock::time_point start{};
  CopySeries series(start);
  std::size_t added = 0;
  for (int millisecond = 0; millisecond < 60'000; ++millisecond) {
    const auto now = start + std::chrono::milliseconds(millisecond);
    if (!series.is_due(now)) continue;
    series.add(now, {static_cast<std::uint64_t>(millisecond)});
    ++added;
  }
  CHECK(added < 5 * CopySeries::kSamples);
  CHECK(series.samples().size() <= CopySeries::kSamples);
  CHECK(series.samples().size() >= CopySeries::kSamples / 2);
  CHECK(series.samples().front().seconds == 0);
  CHECK(series.samples().back().seconds > 59);
  for (std::size_t i = 1; i < series.samples().size(); ++i) {
    const double step = series.samples()[i].seconds - series.samples()[i - 1].seconds;
    CHECK(step > 0);
    CHECK(step < 1);
    CHECK(series.samples()[i].copies[0] == Approx(1000 * series.samples()[i].seconds));
  }
}

TEST_CASE("A summary weighs each sample with the time until the next") {
  CHECK(summarize({}, 0).mean == 0);
  CHECK(summarize({{.seconds = 3, .copies = {7}}}, 0).mean == 7);
  const CopySummary summary = summarize(
      {{.seconds = 0, .copies = {}}, {.seconds = 1, .copies = {8}}, {.seconds = 4, .copies = {2}}}, 0);
  CHECK(summary.mean == Approx(6));
  CHECK(summary.largest == 8);
}

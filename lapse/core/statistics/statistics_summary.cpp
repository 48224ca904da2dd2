#include "lapse/core/statistics/statistics_summary.hpp"

#include <fmt/format.h>

#include <string_view>

#include "lapse/core/statistics/access_shares.hpp"
#include "lapse/core/statistics/counters.hpp"
#include "lapse/core/statistics/readable_numbers.hpp"

namespace lapse {

namespace {

std::string counted(std::uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

double mean(std::uint64_t sum, std::uint64_t count) {
  return static_cast<double>(sum) / static_cast<double>(count);
}

std::string accesses_line(const TableCounters& total) {
  const auto shares = access_shares(total);
  if (!shares) return "accesses     none";
  return fmt::format(
      "accesses     {:.2f} % in memory at once ({:.2f} % in copies), {:.2f} % in memory after a wait, {:.2f} "
      "% "
      "by message",
      100 * shares->local, 100 * shares->copy, 100 * shares->queued, 100 * shares->remote);
}

std::string relocations_line(const TableCounters& total) {
  if (total.relocations_in == 0) return "relocations  none";
  return fmt::format("relocations  {}, {} from request to arrival in the mean, {} at most",
                     counted(total.relocations_in, "key has moved", "keys have moved"),
                     readable_time(mean(total.relocation_nanoseconds, total.relocations_in)),
                     readable_time(static_cast<double>(total.relocation_max_nanoseconds)));
}

std::string copies_line(const TableCounters& total) {
  if (total.copies_in == 0 && total.copies_here == 0) return "copies       none";
  std::string text = fmt::format("copies       {}, {} now", counted(total.copies_in, "was made", "were made"),
                                 total.copies_here);
  if (total.read_samples > 0) {
    text += fmt::format("; when read, {} after their last refresh in the mean",
                        readable_time(mean(total.stale_nanoseconds, total.read_samples)));
  }
  return text;
}

}  // namespace

std::string summary_lines(const Statistics& statistics) {
  TableCounters tables;
  for (std::size_t i = 0; i < statistics.table_names.size(); ++i)
    tables += statistics.table_total(TableId{static_cast<std::uint32_t>(i)});
  const RankCounters ranks = statistics.rank_total();
  return fmt::format("job          {}, {} with {} of values; {}\n{}\nmessages     {} with {}\n{}\n{}\n",
                     counted(statistics.ranks.size(), "rank", "ranks"),
                     counted(statistics.table_names.size(), "table", "tables"),
                     readable_bytes(tables.bytes_here), counted(tables.operations, "operation", "operations"),
                     accesses_line(tables), counted(ranks.messages_sent, "was sent", "were sent"),
                     readable_bytes(ranks.bytes_sent), relocations_line(tables), copies_line(tables));
}

}  // namespace lapse

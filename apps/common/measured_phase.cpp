#include "apps/common/measured_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/counter_difference.hpp"
#include "lapse/core/tracing/trace_notes.hpp"

namespace lapse::apps {

namespace {

TableCounters sum_of(const Statistics& statistics, std::span<const TableId> tables) {
  TableCounters sum;
  for (const TableId table : tables) sum += statistics.table_total(table);
  return sum;
}

}  // namespace

PhaseCost& PhaseCost::operator+=(const PhaseCost& other) {
  seconds += other.seconds;
  accesses += other.accesses;
  traffic += other.traffic;
  return *this;
}

PhaseCost run_measured(adapm::ParameterManager& manager, std::int32_t workers,
                       std::span<const TableId> tables, std::string name,
                       const std::function<void(adapm::IntentWorker&)>& f) {
  const TraceBand band(std::move(name));
  const Statistics before = manager.server().statistics();
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds(static_cast<std::size_t>(std::max(1, workers)));  // by worker
  manager.run_workers(workers, [&](adapm::IntentWorker& worker) {
    worker.barrier();
    const Clock::time_point begin = Clock::now();
    f(worker);
    // Without a further barrier: workers may have advanced their clocks differently often.
    seconds[worker.local_index()] = std::chrono::duration<double>(Clock::now() - begin).count();
  });
  const double own = std::ranges::max(seconds);
  double longest = 0;
  for (const std::string& of_rank :
       manager.server().exchange("run_measured", [own] { return fmt::format("{}", own); }))
    longest = std::max(longest, std::stod(of_rank));
  const Statistics after = manager.server().statistics();
  return {longest, counter_difference(sum_of(after, tables), sum_of(before, tables)),
          counter_difference(after.rank_total(), before.rank_total())};
}

std::string epoch_name(std::uint64_t epoch) {
  return fmt::format("epoch {}", epoch);
}

double local_share(const TableCounters& accesses) {
  const std::uint64_t local = accesses.local_pulls + accesses.local_pushes;
  const std::uint64_t all = local + accesses.queued_accesses + accesses.remote_pulls + accesses.remote_pushes;
  return all == 0 ? 1 : static_cast<double>(local) / static_cast<double>(all);
}

void add_costs(Summary& summary, const PhaseCost& total, std::uint64_t epochs) {
  const double divisor = static_cast<double>(std::max<std::uint64_t>(1, epochs));
  const double per_epoch = total.seconds / divisor;
  summary.add("seconds_per_epoch", per_epoch, "time per epoch", fmt::format("{:.5f} s", per_epoch));
  const double share = local_share(total.accesses);
  summary.add("local_share", share, "local accesses", fmt::format("{:.2f} %", 100 * share));
  const double relocations =
      total.seconds > 0 ? static_cast<double>(total.accesses.relocations_in) / total.seconds : 0;
  summary.add("relocations_per_second", relocations, "relocations", fmt::format("{:.0f} /s", relocations));
  const double messages = static_cast<double>(total.traffic.messages_sent) / divisor;
  summary.add("messages_per_epoch", messages, "messages", fmt::format("{:.0f} per epoch", messages));
  const double bytes = static_cast<double>(total.traffic.bytes_sent) / divisor;
  summary.add("bytes_per_epoch", bytes, "bytes", fmt::format("{:.0f} per epoch", bytes));
}

}  // namespace lapse::apps

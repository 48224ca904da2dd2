#include "apps/common/management_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace lapse::apps {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // null in JSON

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Without a sampled read, replicas have no staleness.
void add_staleness(Summary& summary, const TableCounters& accesses) {
  const bool none = accesses.read_samples == 0;
  const double age = none ? kNone : ratio(accesses.stale_nanoseconds, accesses.read_samples) * 1e-9;
  summary.add("stale_seconds", age, "  age of copies at reading",
              none ? "none were read" : fmt::format("{:.3f} ms", 1e3 * age));
  const double versions = none ? kNone : ratio(accesses.stale_versions, accesses.read_samples);
  summary.add("stale_versions", versions, "  versions that they missed",
              none ? "none were read" : fmt::format("{:.3f}", versions));
}

void add_timing(Summary& summary, const adapm::IntentCounters& intents) {
  const bool none = intents.actionable_intents == 0;
  const double lead = none ? kNone : intents.mean_lead();
  summary.add("mean_lead", lead, "  intents acted on",
              none ? "none" : fmt::format("{:.1f} clocks ahead", lead));
  const double late = ratio(intents.late_intents, intents.actionable_intents);
  summary.add("late_share", late, "  intents acted on too late", fmt::format("{:.3f} %", 100 * late));
}

// The cause of most accesses of one table in other domains.
void add_main_cause(Summary& summary, const std::vector<adapm::RemoteCauses>& causes) {
  const adapm::RemoteCauses* table = nullptr;
  std::uint64_t all = 0;
  const auto keys = [](const adapm::RemoteCauses& one) { return one[one.largest().cause]; };
  for (const adapm::RemoteCauses& one : causes) {
    all += one.sum();
    if (table == nullptr || keys(one) > keys(*table)) table = &one;
  }
  const std::string text = table == nullptr ? "none"
                                            : fmt::format("{} in table {}: {:.0f} %", table->largest().name,
                                                          table->table, 100 * ratio(keys(*table), all));
  summary.add("remote_cause", text, "  most frequent cause");
}

}  // namespace

void add_management(Summary& summary, adapm::Technique technique, const PhaseCost& total,
                    const adapm::Statistics& statistics, std::uint64_t epochs) {
  const TableCounters& accesses = total.accesses;
  const std::uint64_t in_memory = accesses.local_pulls + accesses.local_pushes;
  const std::uint64_t in_copies = accesses.copy_pulls + accesses.copy_pushes;
  const std::uint64_t remote = accesses.remote_pulls + accesses.remote_pushes;
  const std::uint64_t all = in_memory + accesses.queued_accesses + remote;
  const auto share = [&](std::string_view name, std::uint64_t part, std::uint64_t whole,
                         std::string_view label) {
    const double value = ratio(part, whole);
    summary.add(name, value, label, fmt::format("{:.3f} %", 100 * value));
  };
  summary.add("technique", adapm::to_string(technique), "technique");
  share("main_share", in_memory - in_copies, all, "  accesses of main copies");
  share("copy_share", in_copies, all, "  accesses of other copies");
  share("queued_share", accesses.queued_accesses, all, "  accesses after the key's arrival");
  share("remote_share", remote, all, "  remote accesses");
  share("remote_operation_share", accesses.remote_operations, accesses.operations, "  remote calls");
  add_main_cause(summary, statistics.intents.causes);
  const double divisor = static_cast<double>(std::max<std::uint64_t>(1, epochs));
  const auto per_epoch = [&](std::string_view name, std::uint64_t count, std::string_view label) {
    const double value = static_cast<double>(count) / divisor;
    summary.add(name, value, label, fmt::format("{:.0f} per epoch", value));
  };
  per_epoch("relocations_per_epoch", accesses.relocations_in, "  relocations");
  per_epoch("copies_per_epoch", accesses.copies_in, "  copies set up");
  const double bytes = static_cast<double>(total.traffic.bytes_sent) / divisor /
                       static_cast<double>(std::max<std::size_t>(1, statistics.server.ranks.size()));
  summary.add("bytes_per_rank_and_epoch", bytes, "  bytes of a rank", fmt::format("{:.0f} per epoch", bytes));
  add_staleness(summary, accesses);
  add_timing(summary, statistics.intents.total());
}

}  // namespace lapse::apps

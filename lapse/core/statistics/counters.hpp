// Tables of the fields of the ranks' counters, from which addition, serialisation, JSON and text are
// generated.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "lapse/core/statistics.hpp"

namespace lapse {

enum class CounterMerge : std::uint8_t {
  sum,
  maximum,
  level,  // not a count of events but a current amount: adds up over ranks, not over time
};

template <class Counters>
struct CounterField {
  std::string_view name;
  std::uint64_t Counters::*member;
  std::string_view meaning;
  CounterMerge merge = CounterMerge::sum;
};

// clang-format off
inline constexpr std::array kTableCounterFields{
    CounterField<TableCounters>{"operations", &TableCounters::operations, "calls of pull, push, set and call, on one key or many"},
    CounterField<TableCounters>{"remote_operations", &TableCounters::remote_operations, "of these, those that sent a message for at least one key"},
    CounterField<TableCounters>{"local_pulls", &TableCounters::local_pulls, "keys read directly in memory"},
    CounterField<TableCounters>{"local_pushes", &TableCounters::local_pushes, "keys written directly in memory"},
    CounterField<TableCounters>{"queued_accesses", &TableCounters::queued_accesses, "keys accessed on this rank after they arrived"},
    CounterField<TableCounters>{"remote_pulls", &TableCounters::remote_pulls, "keys read by message"},
    CounterField<TableCounters>{"remote_pushes", &TableCounters::remote_pushes, "keys written by message"},
    CounterField<TableCounters>{"leased_keys", &TableCounters::leased_keys, "keys in leases that were held"},
    CounterField<TableCounters>{"localized_keys", &TableCounters::localized_keys, "keys in localize calls"},
    CounterField<TableCounters>{"relocations_in", &TableCounters::relocations_in, "keys that arrived"},
    CounterField<TableCounters>{"relocations_out", &TableCounters::relocations_out, "keys whose ownership was transferred"},
    CounterField<TableCounters>{"relocation_nanoseconds", &TableCounters::relocation_nanoseconds, "from asking to arrival, sum over the keys that arrived"},
    CounterField<TableCounters>{"relocation_max_nanoseconds", &TableCounters::relocation_max_nanoseconds, "from asking to arrival, longest", CounterMerge::maximum},
    CounterField<TableCounters>{"waiting_nanoseconds", &TableCounters::waiting_nanoseconds, "time in queues for keys in flight, sum over the operations"},
    CounterField<TableCounters>{"forwarded", &TableCounters::forwarded, "operation records sent on to the home or the owner"},
    CounterField<TableCounters>{"held", &TableCounters::held, "accesses held until earlier ones on the key were answered"},
    CounterField<TableCounters>{"owner_lookups", &TableCounters::owner_lookups, "owners read in the home's memory before an access was sent"},
    CounterField<TableCounters>{"copy_pulls", &TableCounters::copy_pulls, "of local_pulls, those from a copy that is not the main one"},
    CounterField<TableCounters>{"copy_pushes", &TableCounters::copy_pushes, "of local_pushes, those to a copy that is not the main one"},
    CounterField<TableCounters>{"copies_in", &TableCounters::copies_in, "copies that came to be on this rank"},
    CounterField<TableCounters>{"copies_out", &TableCounters::copies_out, "values sent to other domains for copies"},
    CounterField<TableCounters>{"deltas_in", &TableCounters::deltas_in, "changes of copies merged into main copies"},
    CounterField<TableCounters>{"deltas_out", &TableCounters::deltas_out, "changes of copies sent to their owners"},
    CounterField<TableCounters>{"refreshes_in", &TableCounters::refreshes_in, "copies renewed by their owners"},
    CounterField<TableCounters>{"refreshes_out", &TableCounters::refreshes_out, "values sent to renew copies"},
    CounterField<TableCounters>{"declined_copies", &TableCounters::declined_copies, "keys that this domain wanted, and had no room or no use for any more"},
    CounterField<TableCounters>{"refused_copies", &TableCounters::refused_copies, "copies that owners could not give"},
    CounterField<TableCounters>{"missed_versions", &TableCounters::missed_versions, "versions by which copies were behind when they were renewed, sum"},
    CounterField<TableCounters>{"missed_versions_max", &TableCounters::missed_versions_max, "versions by which a copy was behind, most", CounterMerge::maximum},
    CounterField<TableCounters>{"refresh_nanoseconds", &TableCounters::refresh_nanoseconds, "time between renewals of a copy, sum"},
    CounterField<TableCounters>{"refresh_max_nanoseconds", &TableCounters::refresh_max_nanoseconds, "time between renewals of a copy, longest", CounterMerge::maximum},
    CounterField<TableCounters>{"read_samples", &TableCounters::read_samples, "reads of copies whose staleness was found out: one in 256"},
    CounterField<TableCounters>{"stale_versions", &TableCounters::stale_versions, "versions by which their copies were behind before the next renewal, sum"},
    CounterField<TableCounters>{"stale_versions_max", &TableCounters::stale_versions_max, "the same, most", CounterMerge::maximum},
    CounterField<TableCounters>{"stale_nanoseconds", &TableCounters::stale_nanoseconds, "time since the last refresh of their copies, sum"},
    CounterField<TableCounters>{"stale_max_nanoseconds", &TableCounters::stale_max_nanoseconds, "the same, longest", CounterMerge::maximum},
    CounterField<TableCounters>{"checked_rows", &TableCounters::checked_rows, "keys of pushes and sets that were looked at, as the table has not_finite or max_push_norm"},
    CounterField<TableCounters>{"not_finite_rows", &TableCounters::not_finite_rows, "of these, those with elements that were not finite, applied or refused"},
    CounterField<TableCounters>{"clipped_rows", &TableCounters::clipped_rows, "of these, those that were scaled down to max_push_norm"},
    CounterField<TableCounters>{"clock_waits", &TableCounters::clock_waits, "accesses that waited for slower workers, as the table bounds the staleness"},
    CounterField<TableCounters>{"clock_waiting_nanoseconds", &TableCounters::clock_waiting_nanoseconds, "time of these waits, sum"},
    CounterField<TableCounters>{"clocks", &TableCounters::clocks, "advances of clocks of workers that may access the table, which bounds the staleness"},
    CounterField<TableCounters>{"clock_lags", &TableCounters::clock_lags, "by how many clocks what they could read then was behind theirs, sum"},
    CounterField<TableCounters>{"clock_lag_max", &TableCounters::clock_lag_max, "the same, most: never above the bound", CounterMerge::maximum},
    CounterField<TableCounters>{"value_waits", &TableCounters::value_waits, "pushes that waited until other copies showed earlier ones, as the table bounds values"},
    CounterField<TableCounters>{"value_waiting_nanoseconds", &TableCounters::value_waiting_nanoseconds, "time of these waits, sum"},
    CounterField<TableCounters>{"value_alone", &TableCounters::value_alone, "pushes larger than the bound, which passed alone"},
    CounterField<TableCounters>{"copies_here", &TableCounters::copies_here, "copies that the ranks hold now, beside main copies", CounterMerge::level},
    CounterField<TableCounters>{"keys_here", &TableCounters::keys_here, "keys that the ranks own now", CounterMerge::level},
    CounterField<TableCounters>{"bytes_here", &TableCounters::bytes_here, "their values and the state of the update rule", CounterMerge::level},
    CounterField<TableCounters>{"bytes_of_memory", &TableCounters::bytes_of_memory, "all memory of the table: values, slot words, owners", CounterMerge::level},
};

inline constexpr std::array kRankCounterFields{
    CounterField<RankCounters>{"messages_sent", &RankCounters::messages_sent, "messages sent"},
    CounterField<RankCounters>{"messages_received", &RankCounters::messages_received, "messages received"},
    CounterField<RankCounters>{"bytes_sent", &RankCounters::bytes_sent, "bytes of messages sent"},
    CounterField<RankCounters>{"bytes_received", &RankCounters::bytes_received, "bytes of messages received"},
    CounterField<RankCounters>{"engine_turns", &RankCounters::engine_turns, "turns of the progress engine"},
    CounterField<RankCounters>{"helper_turns", &RankCounters::helper_turns, "turns driven by waiting workers"},
    CounterField<RankCounters>{"rounds", &RankCounters::rounds, "rounds of communication about copies and wanted keys"},
};
// clang-format on

// Every field is in the table.
static_assert(sizeof(TableCounters) == kTableCounterFields.size() * sizeof(std::uint64_t));
static_assert(sizeof(RankCounters) == kRankCounterFields.size() * sizeof(std::uint64_t));

// The table of the fields of a struct of counters.
template <class Counters>
constexpr const auto& counter_fields();
template <>
constexpr const auto& counter_fields<TableCounters>() {
  return kTableCounterFields;
}
template <>
constexpr const auto& counter_fields<RankCounters>() {
  return kRankCounterFields;
}

// For archives: see lapse/ps/agreement/archive.hpp.
template <class Archive, class Counters>
requires std::same_as<Counters, TableCounters> || std::same_as<Counters, RankCounters>
void serialize(Archive& archive, Counters& counters, unsigned) {
  for (const auto& field : counter_fields<Counters>()) archive& counters.*field.member;
}

}  // namespace lapse

// Traces of allocation: files of the ranks of a run.
//
// The first byte is the number of files but one; before each file stand two bytes with its length. The last
// file is all that is left.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "apps/viewer/allocation.hpp"
#include "apps/viewer/commands.hpp"
#include "apps/viewer/optimum.hpp"
#include "apps/viewer/rank_trace.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace {

constexpr std::size_t kMaxRanks = 3;
constexpr std::size_t kMaxDomains = 8;

void check_table(const lapse::apps::TableAllocation& table) {
  using namespace lapse::test;
  check(std::ranges::is_sorted(table.changes, {}, &lapse::apps::KeyChange::time), "changes are in order");
  check(std::ranges::is_sorted(table.accesses, {}, &lapse::apps::KeyAccess::time), "accesses are in order");
  for (const lapse::apps::KeyChange& change : table.changes)
    check(table.keys == 0 || change.key < table.keys, "keys are those of the table");
  if (table.accesses.empty() || table.rounds.size() > kMaxDomains) return;
  const auto costs = lapse::apps::byte_costs({8, 12, 8});
  for (const lapse::apps::KeyOptimum& key : lapse::apps::optima_of(table, costs))
    check(key.least_cost <= costs.of(key.stayed) + 1e-6, "it costs no more than if nothing moves");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lapse::test::FuzzInput input(data, size);
  const std::size_t ranks = 1 + input.byte() % kMaxRanks;
  static std::FILE* const nowhere = std::fopen("/dev/null", "w");
  try {
    std::vector<lapse::apps::RankTrace> traces;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::string bytes = rank + 1 == ranks ? input.rest() : input.text(input.number<std::uint16_t>());
      traces.push_back(lapse::apps::parse_rank_trace(bytes, "t." + std::to_string(rank)));
    }
    const lapse::apps::Allocation allocation = lapse::apps::merge_traces(traces);
    print_trace_summary(allocation, nowhere);
    for (const lapse::apps::TableAllocation& table : allocation.tables) check_table(table);
  } catch (const lapse::FileError&) {
    // No trace, or a damaged one.
  } catch (const lapse::ConfigurationError&) {
    // Not of one run.
  }
  return 0;
}

// What traces of allocation say beside roles: wants, accesses, and what the program has said of its run.
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/viewer/allocation.hpp"
#include "lapse/core/tracing/allocation_records.hpp"
#include "lapse/core/tracing/trace_notes.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/trace_prefix.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::apps::Allocation;
using lapse::apps::TableAllocation;
using lapse::test::key_range;
using lapse::test::traced;
using lapse::test::TracePrefix;

namespace {
constexpr std::uint64_t kTracedKeys = 60;
}  // namespace

TEST_CASE("A trace of accesses has each of them, and whether it needs messages") {
  const TracePrefix prefix;
  std::int32_t ranks = 0;
  constexpr std::uint64_t kAccessed = 5;
  {
    Options options = traced(prefix);
    options.allocation_trace_events = TraceEvents::accesses;
    options.allocation_trace_keys = "all:0-9";
    ParameterServer server(MPI_COMM_WORLD, options);
    ranks = server.ranks();
    const auto table = server.create_table<float>({.name = "all", .keys = kTracedKeys, .length = 2});
    const auto other = server.create_table<float>({.name = "other", .keys = kTracedKeys, .length = 2});
    server.run_workers(2, [&](Worker& worker) {
      const auto keys = key_range(0, kAccessed);
      std::vector<float> values(2 * kAccessed, 1);
      worker.pull(table, keys, values).wait();
      worker.pull(table, Key(20), std::span(values).first(2)).wait();
      worker.pull(other, keys, values).wait();
      for (int push = 0; push < 2; ++push) worker.push(table, keys, values).wait();
      worker.push(table, Key(1), std::span(values).first(2)).wait();
    });
    server.close();
  }
  const Allocation allocation = prefix.read();
  REQUIRE(allocation.tables.size() == 1);
  const TableAllocation& table = allocation.tables[0];
  CHECK(table.value_bytes == 8);
  CHECK(table.content_bytes == 8);
  CHECK(table.wants.empty());
  const std::uint64_t workers = 2 * static_cast<std::uint64_t>(ranks);
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> found;  // reads and writes
  for (const lapse::apps::KeyAccess& access : table.accesses) {
    auto& [reads, writes] = found[access.key];
    ++((access.kind & kTraceWrites) != 0 ? writes : reads);
    const bool is_owner =
        (lapse::apps::states_at(table, access.key, access.time)[static_cast<std::size_t>(access.domain)] &
         kTraceOwner) != 0;
    CHECK(is_owner == ((access.kind & kTraceRemote) == 0));
  }
  CHECK(found.size() == kAccessed);
  for (const auto& [key, counts] : found) {
    CHECK(counts.first == workers);
    CHECK(counts.second == workers * (key == 1 ? 3 : 2));
  }
}

TEST_CASE("A trace of intents has when each domain wants a key, beside a trace of single keys") {
  const TracePrefix prefix;
  const TracePrefix single;
  std::uint64_t lines = 0;  // of all ranks, in bytes
  constexpr std::uint64_t kWanted = 30;
  const auto domains_of = [](const Allocation& allocation) {
    return static_cast<std::size_t>(allocation.tables.at(0).domains);
  };
  {
    adapm::Options options = adapm::Options::from_environment();
    options.server = traced(prefix);
    options.server.allocation_trace_events = TraceEvents::intents;
    options.trace_keys = "counts:5";
    options.trace_file = single.path() + "-single";
    adapm::ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<float>({.name = "counts", .keys = kTracedKeys, .length = 2});
    manager.run_workers(1, [&](adapm::IntentWorker& worker) {
      // Some of the keys are another domain's at first: when all are here, a round has wanted them.
      const auto keys = key_range(0, kWanted);
      worker.intent(table, keys, Clock(0), Clock(1));
      std::vector<float> values(2 * kWanted);
      while (std::ranges::any_of(keys,
                                 [&](Key key) { return worker.locality(table, key) == Locality::not_local; }))
        worker.pull(table, keys, values).wait();
      worker.push(table, keys, values).wait();
      worker.sync_barrier();
      worker.advance_clock();
      worker.sync_barrier();
    });
    manager.close();
    const std::string file = options.trace_file + "." + std::to_string(manager.rank().value());
    lines = std::filesystem::file_size(file);
    MPI_Allreduce(MPI_IN_PLACE, &lines, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    std::filesystem::remove(file);
  }
  CHECK(lines > 0);
  const Allocation allocation = prefix.read();
  const TableAllocation& table = allocation.tables.at(0);
  CHECK(table.accesses.empty());
  std::map<std::pair<std::uint64_t, std::int32_t>, std::pair<int, int>> wants;  // on and off
  for (const lapse::apps::KeyWant& want : table.wants) {
    auto& [on, off] = wants[{want.key, want.domain}];
    CHECK(on - off == (want.on ? 0 : 1));
    ++(want.on ? on : off);
  }
  if (domains_of(allocation) == 1) return;  // Nothing is managed.
  CHECK(wants.size() == kWanted * domains_of(allocation));
  for (const auto& [key, times] : wants) {
    CHECK(key.first < kWanted);
    CHECK(times.first >= 1);  // Another rank of the domain may want it later.
    CHECK(times.first == times.second);
  }
  REQUIRE(table.rounds.size() == domains_of(allocation));
  // Some domain has had a replica of what it pushed to, or its owner a new version for it.
  CHECK(std::ranges::any_of(table.rounds, [](const auto& rounds) { return !rounds.empty(); }));
  for (const auto& rounds : table.rounds) CHECK(std::ranges::is_sorted(rounds));
}

TEST_CASE("A trace has what the program says of its run, also what it has said before") {
  trace_note("task", "another");
  trace_note("task", "test of notes");
  const TracePrefix prefix;
  {
    adapm::Options options = adapm::Options::from_environment();
    options.server = traced(prefix);
    options.technique = adapm::Technique::relocation_only;
    adapm::ParameterManager manager(MPI_COMM_WORLD, options);
    manager.create_table<float>({.name = "counts", .keys = kTracedKeys});
    {
      const TraceBand outer("outer");
      const TraceBand inner("inner <1>");
      manager.run_workers(1, [](adapm::IntentWorker&) {});
    }
    manager.close();
    trace_note("task", "too late");
  }
  const Allocation allocation = prefix.read();
  CHECK(allocation.notes.at("task") == "test of notes");
  CHECK(allocation.notes.at("technique") == "relocation_only");
  CHECK_FALSE(allocation.notes.at("program").empty());
  REQUIRE(allocation.bands.size() == 2);
  CHECK(allocation.bands[0].name == "inner <1>");
  CHECK(allocation.bands[1].name == "outer");
  CHECK(allocation.bands[1].begin <= allocation.bands[0].begin);
  CHECK(allocation.bands[1].end >= allocation.phases.at(0).end);
}

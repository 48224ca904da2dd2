// Traces of allocation: what they say is what happened.
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/viewer/allocation.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/tracing/allocation_records.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/trace_prefix.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using Catch::Matchers::Contains;
using lapse::apps::Allocation;
using lapse::apps::KeyChange;
using lapse::apps::Relocation;
using lapse::apps::TableAllocation;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::traced;
using lapse::test::TracePrefix;

namespace {

constexpr std::uint64_t kKeys = 60;
constexpr std::uint64_t kMoved = 12;

bool has_one_owner(const TableAllocation& table, Key key, std::int64_t time) {
  const auto states = lapse::apps::states_at(table, key.value(), time);
  return std::ranges::count_if(states, [](std::uint8_t state) { return (state & kTraceOwner) != 0; }) == 1;
}

}  // namespace

TEST_CASE("A trace has the first owner of each key, and each relocation in its order") {
  const TracePrefix prefix;
  std::int32_t ranks = 0;
  const std::int32_t turns = 9;
  {
    ParameterServer server(MPI_COMM_WORLD, traced(prefix));
    ranks = server.ranks();
    const auto table = server.create_table<float>({.name = "moved \"<b>\"", .keys = kKeys, .length = 2});
    server.run_workers(1, [&](Worker& worker) {
      for (std::int32_t turn = 0; turn < turns; ++turn) {
        if (turn % ranks == server.rank().value()) worker.localize(table, key_range(0, kMoved)).wait();
        worker.barrier();
      }
    });
    server.close();
  }
  const Allocation allocation = prefix.read();
  REQUIRE(allocation.tables.size() == 1);
  const TableAllocation& table = allocation.tables[0];
  CHECK(table.name == "moved \"<b>\"");
  CHECK(table.keys == kKeys);
  CHECK(allocation.incomplete.empty());
  CHECK_FALSE(allocation.dropped.has_value());
  REQUIRE(allocation.phases.size() == 1);
  CHECK(allocation.phases[0].name == "run_workers");
  CHECK(allocation.phases[0].begin > 0);
  CHECK(allocation.phases[0].end <= allocation.duration);
  for (const Key key : key_range(0, kKeys)) {
    CHECK(has_one_owner(table, key, allocation.phases[0].begin));
    CHECK(has_one_owner(table, key, allocation.duration));
  }

  const auto domains_of_ranks = lapse::apps::read_rank_trace(prefix.path() + ".0").tables[0].domains;
  std::map<std::uint64_t, std::vector<std::int32_t>> owners;
  for (const KeyChange& change : table.changes)
    if (change.time < allocation.phases[0].begin && (change.state & kTraceOwner) != 0)
      owners[change.key] = {change.domain};
  for (std::int32_t turn = 0; turn < turns; ++turn) {
    const std::int32_t domain = domains_of_ranks[static_cast<std::size_t>(turn % ranks)];
    for (std::uint64_t key = 0; key < kMoved; ++key)
      if (owners[key].back() != domain) owners[key].push_back(domain);
  }
  std::map<std::uint64_t, std::vector<std::int32_t>> found;
  for (const auto& [key, first] : owners) found[key] = {first[0]};
  for (const Relocation& relocation : lapse::apps::relocations_of(table)) {
    CHECK(found[relocation.key].back() == relocation.from);
    found[relocation.key].push_back(relocation.to);
  }
  CHECK(found == owners);
  const auto moves = lapse::apps::moves_of(table);
  CHECK(moves.size() == static_cast<std::size_t>(std::ranges::count_if(
                            owners, [](const auto& history) { return history.second.size() > 1; })));
}

TEST_CASE("A trace has the replicas of managed keys, also beside a trace of single keys") {
  const TracePrefix prefix;
  const TracePrefix single;
  std::int32_t domains = 0;
  {
    adapm::Options options = adapm::Options::from_environment();
    options.server = traced(prefix);
    options.server.allocation_trace_keys = "counts:3-10";
    options.technique = adapm::Technique::replication_only;
    options.trace_keys = "counts:5";
    options.trace_file = single.path() + "-single";
    adapm::ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<float>({.name = "counts", .keys = kKeys, .length = 2});
    manager.create_table<float>({.name = "other", .keys = kKeys, .length = 2});
    manager.run_workers(1, [&](adapm::IntentWorker& worker) {
      worker.intent(table, key_range(0, kKeys), Clock(0), Clock(5));
      for (int clock = 0; clock < 5; ++clock) {
        worker.sync_barrier();
        worker.advance_clock();
      }
      worker.sync_barrier();
    });
    manager.close();
    std::filesystem::remove(options.trace_file + "." + std::to_string(manager.rank().value()));
  }
  const Allocation allocation = prefix.read();
  REQUIRE(allocation.tables.size() == 1);
  domains = allocation.tables[0].domains;
  std::set<std::pair<std::uint64_t, std::int32_t>> copies;
  std::set<std::uint64_t> keys;
  for (const KeyChange& change : allocation.tables[0].changes) {
    keys.insert(change.key);
    if ((change.state & kTraceCopy) != 0) copies.emplace(change.key, change.domain);
  }
  CHECK(keys == std::set<std::uint64_t>{3, 4, 5, 6, 7, 8, 9, 10});
  if (domains > 1) {
    CHECK_FALSE(copies.empty());
    CHECK(copies.size() <= keys.size() * static_cast<std::size_t>(domains - 1));
  } else {
    CHECK(copies.empty());
  }
}

TEST_CASE("A trace ends with its limit of bytes, and says so") {
  const TracePrefix prefix;
  {
    Options options = traced(prefix);
    options.allocation_trace_bytes = 65536;
    ParameterServer server(MPI_COMM_WORLD, options);
    const auto table = server.create_table<float>({.name = "large", .keys = 100'000});
    server.close();
    CHECK(table.keys() == 100'000);
  }
  const Allocation allocation = prefix.read();
  CHECK(std::filesystem::file_size(prefix.path() + ".0") < 65536 + 1000);
  if (allocation.hosts.size() == 1) CHECK(allocation.dropped.has_value());
  CHECK(allocation.incomplete.empty());
}

TEST_CASE("Servers of one job write files of different names") {
  const TracePrefix prefix;
  const Options options = traced(prefix);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < (ranks + 1) / 2 ? 0 : 1, rank, &half);
  {
    ParameterServer all(MPI_COMM_WORLD, options);
    ParameterServer some(half, options);
    all.create_table<float>({.name = "of all", .keys = kKeys});
    some.create_table<float>({.name = "of some", .keys = kKeys});
    some.close();
    all.close();
  }
  MPI_Comm_free(&half);
  CHECK(prefix.read().tables.at(0).name == "of all");
  const int first = (ranks + 1) / 2;
  const auto check = [&](const std::string& path, int size) {
    const Allocation allocation = lapse::apps::read_allocation(path);
    CHECK(allocation.hosts.size() == static_cast<std::size_t>(size));
    CHECK(allocation.tables.at(0).name == "of some");
  };
  check(prefix.path() + "-server-2", first);
  if (ranks > 1) check(prefix.path() + "-from-rank-" + std::to_string(first) + "-server-2", ranks - first);
  MPI_Barrier(MPI_COMM_WORLD);
  const bool is_first = rank < first;
  std::filesystem::remove(prefix.path() + (is_first ? "" : "-from-rank-" + std::to_string(first)) +
                          "-server-2." + std::to_string(is_first ? rank : rank - first));
}

TEST_CASE("What a trace cannot have is refused on every rank") {
  const TracePrefix prefix;
  Options options = traced(prefix);
  options.allocation_trace_keys = "counts";
  CHECK_THROWS_WITH((ParameterServer(MPI_COMM_WORLD, options)),
                    Contains("allocation_trace_keys") && Contains("expected all, or table:keys"));
  options.allocation_trace_keys = "counts:7-70";
  {
    ParameterServer server(MPI_COMM_WORLD, options);
    CHECK_THROWS_WITH(server.create_table<float>({.name = "counts", .keys = kKeys}),
                      Contains("7-70") && Contains("60 keys"));
    const auto other = server.create_table<float>({.name = "other", .keys = kKeys});
    expect(other.keys() == kKeys, "the server goes on");
    server.close();
    std::filesystem::remove(prefix.path() + "-server-2." + std::to_string(server.rank().value()));
  }
  options.allocation_trace_keys = "all";
  options.allocation_trace = prefix.path() + "/missing/trace";
  CHECK_THROWS_WITH((ParameterServer(MPI_COMM_WORLD, options)),
                    Contains("missing/trace") && Contains("cannot be created"));
}

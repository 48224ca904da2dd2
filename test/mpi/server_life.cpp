#include <mpi.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/hooks.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/directory/home_map.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 50;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void push_one_everywhere(ParameterServer& server, const Table<std::int64_t>& table, std::int64_t before) {
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    worker.localize(table, keys);
    worker.push(table, keys, std::vector<std::int64_t>(kKeys, 1));
    worker.barrier();
    std::vector<std::int64_t> values(kKeys);
    worker.pull(table, keys, values).wait();
    expect(values == std::vector<std::int64_t>(kKeys, (before + 1) * worker.ranks()),
           "pushes of this server");
  });
}

}  // namespace

TEST_CASE("Two servers on equal and on different communicators are used in turns") {
  const int rank = world_rank();
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    ParameterServer whole(MPI_COMM_WORLD);
    ParameterServer same(MPI_COMM_WORLD);
    ParameterServer part(half);
    int half_rank = 0;
    int half_size = 0;
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    CHECK(whole.rank() == Rank(rank));
    CHECK(part.rank() == Rank(half_rank));
    CHECK(part.ranks() == half_size);
    const auto a = whole.create_table<std::int64_t>({.name = "same name", .keys = kKeys});
    const auto b = same.create_table<std::int64_t>({.name = "same name", .keys = kKeys});
    const auto c = part.create_table<std::int64_t>({.name = "same name", .keys = kKeys});
    for (std::int64_t round = 0; round < 5; ++round) {
      push_one_everywhere(whole, a, round);
      push_one_everywhere(part, c, round);
      push_one_everywhere(same, b, round);
    }
    // Closed in a different order than made.
    whole.close();
    push_one_everywhere(same, b, 5);
    part.close();
    same.close();
  }
  MPI_Comm_free(&half);
}

TEST_CASE("A server on MPI_COMM_SELF needs no other rank") {
  Options options = Options::from_environment();
  options.startup_report = false;
  ParameterServer server(MPI_COMM_SELF, options);
  CHECK(server.ranks() == 1);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  // The number of rounds depends on the rank: other ranks do not take part.
  for (int round = 0; round <= world_rank(); ++round) push_one_everywhere(server, table, round);
  server.close();
}

TEST_CASE("The communicator stays the caller's and may be freed once the server exists") {
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  ParameterServer server(duplicate);
  MPI_Comm_free(&duplicate);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  push_one_everywhere(server, table, 0);
}

TEST_CASE("Between phases the application uses MPI freely, with messages in flight during them") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  const int rank = server.rank().value();
  const int ranks = server.ranks();
  for (int round = 0; round < 10; ++round) {
    int from_left = -1;
    MPI_Request requests[2];
    MPI_Irecv(&from_left, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &requests[0]);
    push_one_everywhere(server, table, round);
    const int mine = 100 * round + rank;
    MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(from_left == 100 * round + (rank + ranks - 1) % ranks);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * (ranks - 1) / 2);
  }
}

TEST_CASE("Statistics count what was done, per rank, table and in total") {
  ParameterServer server(MPI_COMM_WORLD);
  const DomainMap domains = lapse::test::domains_of_world();
  const auto counted = server.create_table<std::int64_t>({.name = "counted", .keys = kKeys});
  const auto unused = server.create_table<float>({.name = "unused", .keys = 3});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    std::vector<std::int64_t> values(kKeys, 1);
    worker.push(counted, keys, values).wait();
    worker.pull(counted, keys, values).wait();
    worker.barrier();
    if (worker.index() == 0) worker.localize(counted, keys).wait();
  });
  const Statistics statistics = server.statistics();
  const auto ranks = static_cast<std::uint64_t>(server.ranks());
  REQUIRE(statistics.table_names == std::vector<std::string>{"counted", "unused"});
  REQUIRE(statistics.ranks.size() == ranks);
  const TableCounters total = statistics.table_total(counted.id());
  CHECK(total.local_pulls + total.remote_pulls == 2 * ranks * kKeys);
  CHECK(total.local_pushes + total.remote_pushes == 2 * ranks * kKeys);
  std::uint64_t local = 0;
  for (std::int32_t domain = 0; domain < domains.domains(); ++domain) {
    local += 2 * domains.members(Domain(domain)).size() *
             HomeMap::hash(kKeys, domains.domains(), Domain(domain)).own_keys();
  }
  CHECK(total.local_pulls == local);
  CHECK(total.relocations_in == total.relocations_out);
  const std::uint64_t homes_on_0 = HomeMap::hash(kKeys, domains.domains(), Domain(0)).own_keys();
  CHECK(total.relocations_in == kKeys - homes_on_0);
  TableCounters of_unused;
  of_unused.keys_here = unused.keys();
  of_unused.bytes_here = unused.keys() * unused.length() * sizeof(float);
  of_unused.bytes_of_memory = statistics.table_total(unused.id()).bytes_of_memory;
  CHECK(of_unused.bytes_of_memory > of_unused.bytes_here);
  CHECK(statistics.table_total(unused.id()) == of_unused);
  const RankCounters messages = statistics.rank_total();
  CHECK(messages.messages_sent == messages.messages_received);
  CHECK(messages.bytes_sent == messages.bytes_received);
  CHECK((messages.messages_sent > 0) == (ranks > 1));
}

TEST_CASE("Without helping and without caches everything works, too") {
  Options options = Options::from_environment();
  options.helping = Helping::off;
  options.location_caches = false;
  ParameterServer server(MPI_COMM_WORLD, options);
  CHECK(server.options() == options);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  for (int round = 0; round < 5; ++round) push_one_everywhere(server, table, round);
  server.close();
}

TEST_CASE("A server may be closed or simply destroyed, used or not") {
  { const ParameterServer never_used(MPI_COMM_WORLD); }
  {
    ParameterServer closed(MPI_COMM_WORLD);
    closed.close();
  }
  ParameterServer only_table(MPI_COMM_WORLD);
  const auto table = only_table.create_table<float>({.keys = 3});
  CHECK(table.keys() == 3);
}

TEST_CASE("Servers come and go one after the other") {
  for (int i = 0; i < 4; ++i) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<std::int64_t>({.keys = kKeys});
    push_one_everywhere(server, table, 0);
    if (i % 2 == 0) server.close();
  }
}

namespace {

// Every kind of call of a worker that has ended.
void check_refused(Worker& worker, const Table<std::int64_t>& table) {
  std::vector<std::int64_t> value{0};
  const auto keys = key_range(0, kKeys);
  std::vector<std::int64_t> values(kKeys);
  const std::function<void()> calls[] = {
      [&] { worker.pull(table, Key(0), value).wait(); },
      [&] { worker.push(table, Key(0), value); },
      [&] { worker.pull(table, keys, values).wait(); },
      [&] { worker.localize(table, Key(0)); },
      [&] { worker.locality(table, Key(0)); },
      [&] { worker.update_if_local(table, Key(0), [](std::span<std::int64_t>) {}); },
      [&] { worker.for_each_local(table, [](Key, std::span<const std::int64_t>) {}); },
      [&] { static_cast<void>(worker.lease(table, keys)); },
      [&] { worker.wait_all(); },
      [&] { worker.wait_sync(); },
      [&] { worker.barrier(); },
      [&] { worker.sync_barrier(); },
      [&] { worker.all_reduce(std::span<std::int64_t>(value)); },
  };
  for (const auto& call : calls) {
    CHECK_THROWS_AS(call(), UsageError);
    CHECK(lapse::test::contains(lapse::test::thrown_text<UsageError>(call), "after its end"));
  }
  CHECK(worker.count() > 0);
}

}  // namespace

TEST_CASE("A worker that the application has kept refuses calls after its end, in later phases too") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  Worker* kept = nullptr;
  server.run_workers(2, [&](Worker& worker) {
    if (worker.local_index() == 1) kept = &worker;
  });
  check_refused(*kept, table);
  // An empty table handle has no server either.
  std::vector<std::int64_t> value{0};
  CHECK_THROWS_AS(kept->pull(Table<std::int64_t>(), Key(0), value), UsageError);
  CHECK_THROWS_AS(kept->push(Table<std::int64_t>(), Key(0), value), UsageError);
  Worker* of_here = nullptr;
  server.run_here([&](Worker& worker) {
    of_here = &worker;
    check_refused(*kept, table);
  });
  check_refused(*of_here, table);
  server.start_progress(1);
  AttachedWorker attached = server.attach();
  Worker* const of_thread = &*attached;
  check_refused(*of_here, table);
  attached.detach();
  check_refused(*attached, table);
  check_refused(*of_thread, table);
  server.stop_progress();
  for (std::int64_t round = 0; round < 3; ++round) push_one_everywhere(server, table, round);
  check_refused(*kept, table);
  check_refused(*of_here, table);
  check_refused(*of_thread, table);
  server.close();
}

TEST_CASE("A phase whose end throws fails on every rank, and the server can be closed") {
  for (const bool here : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<std::int64_t>({.keys = kKeys});
    int ends = 0;
    Hooks hooks;
    if (server.rank() == Rank(0)) {
      hooks.begin_region = [&ends](const char* name) {
        if (std::strcmp(name, "lapse end of phase") == 0 && ends++ == 0)
          throw std::runtime_error("of a hook");
      };
    }
    set_hooks(hooks);
    const auto work = [&](Worker& worker) {
      worker.push(table, key_range(0, kKeys), std::vector<std::int64_t>(kKeys, 1));
    };
    const auto run = [&] { here ? server.run_here(work) : server.run_workers(2, work); };
    const std::string text = lapse::test::thrown_text<PeerFailed>(run);
    set_hooks({});
    CHECK(lapse::test::contains(text, "rank 0 failed: of a hook"));
    server.close();
  }
}

// A program whose ranks share memory, for environments that make that difficult. shared_memory_program.sh
// sets them up.
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/case_program.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/shared_memory_copies.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

// Every worker adds 1 to every `stride`-th key, between relocations and leases, and checks the sums.
template <Element T>
void use(ParameterServer& server, const Table<T>& table, std::uint64_t stride) {
  std::vector<Key> keys;
  for (std::uint64_t key = 0; key < table.keys(); key += stride) keys.emplace_back(key);
  const std::size_t length = table.length();
  server.run_workers(2, [&](Worker& worker) {
    const std::size_t share = keys.size() / worker.count();
    const auto own = std::span(keys).subspan(worker.index() * share, share);
    worker.localize(table, own);
    const std::vector<T> ones(keys.size() * length, 1);
    worker.push(table, keys, ones).wait();
    {
      const Lease lease = worker.lease(table, own);
      for (std::size_t i = 0; i < own.size(); ++i) lease.values(table)[i][length - 1] += 1;
    }
    worker.barrier();
    std::vector<T> values(keys.size() * length);
    worker.pull(table, keys, values).wait();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const T added = static_cast<T>(worker.count());
      expect(values[i * length] == added || length == 1, "the first element of key " + std::to_string(i));
      const T by_lease = i < share * worker.count() ? T{1} : T{0};
      expect(values[(i + 1) * length - 1] == added + by_lease,
             "the last element of key " + std::to_string(i));
    }
  });
  server.run_workers(1, [&](Worker& worker) { lapse::test::expect_one_owner_each(worker, table); });
}

// More than a small file system holds: the values of one table, and the slot words of another.
void tables() {
  ParameterServer server(MPI_COMM_WORLD);
  const auto values = server.create_table<float>({.name = "values", .keys = 1600, .length = 16384});
  const auto words = server.create_table<std::int64_t>({.name = "words", .keys = 5'000'000});
  const auto few = server.create_table<std::int64_t>({.name = "few", .keys = 100});
  use(server, values, 40);
  use(server, words, 1000);
  use(server, few, 1);
  server.close();
}

void few() {
  ParameterServer server(MPI_COMM_WORLD);
  const auto few = server.create_table<std::int64_t>({.name = "few", .keys = 1000, .length = 4});
  use(server, few, 1);
  server.close();
}

// Rank 1 has fewer addresses than the table needs with shared memory, and than it would need alone.
void addresses() {
  ParameterServer server(MPI_COMM_WORLD);
  constexpr std::uint64_t kKeys = 4'000'000;
  if (server.rank() == Rank(1)) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    // Of 32 (slot word, owner, slot), or of 14 if a third of the keys have owner and slot.
    constexpr std::uint64_t kForEachKey = 12;
    const rlim_t bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + kKeys * kForEachKey;
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  server.create_table<std::int64_t>({.name = "wide", .keys = kKeys});
}

// Values that are private to a neighbour never become local. A loop that waits for their locality ends.
template <Element T>
std::size_t read_after_localize(Worker& worker, const Table<T>& table, std::span<const Key> keys) {
  constexpr int kTries = 100;
  std::size_t by_message = 0;
  std::vector<T> value(table.length());
  worker.localize(table, keys).wait();
  for (const Key key : keys) {
    while (!worker.pull_if_local(table, key, value)) {
      if (worker.locality(table, key) != Locality::private_to_neighbour) continue;
      for (int i = 0; i < kTries; ++i) {
        worker.localize(table, key).wait();
        expect(!worker.pull_if_local(table, key, value) &&
                   !worker.update_if_local(table, key, [](std::span<T>) {}),
               "a private value stays private");
      }
      const std::vector<T> nothing(table.length(), 0);
      worker.push(table, key, nothing).wait();
      worker.pull(table, key, value).wait();
      ++by_message;
      break;
    }
    expect(value.front() == static_cast<T>(worker.count()), "the pushes of all");
  }
  return by_message;
}

// Takes shared memory, like another process would.
class Filling {
 public:
  void begin(std::uintmax_t left) {
    const std::vector<char> bytes(std::filesystem::space("/dev/shm").available - left, 1);
    std::ofstream(kFile, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void end() { std::filesystem::remove(kFile); }

 private:
  static constexpr const char* kFile = "/dev/shm/filling";
};

// Another process takes the shared memory after a server is made and before its first packets: some of the
// rings between ranks fit, not all.
void full() {
  Filling filling;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.name = "values", .keys = 1000, .length = 4});
  const auto large = server.create_table<std::int64_t>({.name = "large", .keys = 30, .length = 100'000});
  if (server.rank() == Rank(0)) filling.begin(std::uintmax_t{3} << 19U);
  use(server, table, 1);
  use(server, large, 1);
  if (server.rank() == Rank(0)) filling.end();
  server.close();
}

// Another process takes the shared memory after a table is made and before it grows on two ranks of a domain.
void filled() {
  constexpr std::uintmax_t kLeft = std::uintmax_t{3} << 20U;
  Filling filling;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "growing", .keys = 3000, .length = 2048});
  if (server.rank() == Rank(0)) filling.begin(kLeft);
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, table.keys());
    const std::vector<float> ones(keys.size() * table.length(), 1);
    worker.push(table, keys, ones).wait();
    worker.barrier();
    if (worker.rank() == Rank(0)) worker.localize(table, keys).wait();
    worker.barrier();
    std::vector<float> values(ones.size());
    worker.pull(table, keys, values).wait();
    const auto sum = static_cast<float>(worker.count());
    expect(std::ranges::all_of(values, [&](float value) { return value == sum; }), "the pushes of all");
    worker.barrier();
    // On the ranks of the first domain, each of which has values that are private to the other.
    if (worker.rank() != Rank(2)) {
      std::vector<Key> few;
      for (std::uint64_t key = 0; key < table.keys(); key += 100) few.emplace_back(key);
      expect(read_after_localize(worker, table, few) > 0, "values that are private to the neighbour");
    }
  });
  if (server.rank() == Rank(0)) filling.end();
  server.close();
}

// Rank 1 is killed in the middle of a phase in which all ranks use their shared memory.
void killed() {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "values", .keys = 1000, .length = 4096});
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, table.keys());
    const std::vector<float> ones(keys.size() * table.length(), 1);
    worker.push(table, keys, ones).wait();
    worker.barrier();
    for (int round = 0;; ++round) {
      worker.push(table, keys, ones).wait();
      if (worker.index() == 1 && round == 3) std::raise(SIGKILL);
    }
  });
}

// Accesses to keys whose home is on this host cost no messages; accesses to other keys do.
void hosts() {
  const DomainMap domains = lapse::test::domains_of_world();
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  const auto home = [ranks](Key key) { return static_cast<std::int32_t>(key.value()) % ranks; };
  constexpr std::uint64_t kKeys = 6000;
  const auto table = server.create_table<std::int64_t>(
      {.keys = kKeys, .home = HomeMapKind::custom, .home_function = home, .location_caches = false});
  for (const bool near : {true, false}) {
    const RankCounters before = server.statistics().rank_total();
    const TableCounters accesses_before = server.statistics().table_total(table.id());
    server.run_workers(1, [&](Worker& worker) {
      std::int64_t value = 0;
      const std::int64_t one = 1;
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        if (lapse::test::share_memory(domains, worker.rank(), Rank(home(Key(key)))) != near) continue;
        worker.pull(table, Key(key), std::span(&value, 1)).wait();
        worker.push(table, Key(key), std::span(&one, 1)).wait();
      }
    });
    const std::uint64_t messages = server.statistics().rank_total().messages_sent - before.messages_sent;
    const TableCounters accesses = server.statistics().table_total(table.id());
    const std::uint64_t local = accesses.local_pulls - accesses_before.local_pulls;
    const std::uint64_t remote = accesses.remote_pulls - accesses_before.remote_pulls;
    if (near) {
      expect(remote == 0 && local > kKeys, "no remote access to the own host");
      expect(messages < 200, "no messages for accesses on the own host, found " + std::to_string(messages));
    } else if (domains.domains() > 1) {
      expect(local == 0 && remote > 0, "other hosts are remote");
      expect(messages >= 2 * remote, "messages for accesses to other hosts");
    }
  }
  if (server.rank() == Rank(0)) {
    std::printf("domains:");
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      std::printf(" %d", domains.domain_of(Rank(rank)).value());
    std::printf("\n");
  }
  use(server, server.create_table<std::int64_t>({.keys = 1000, .length = 3}), 7);
  server.close();
}

void run(std::string_view name) {
  if (name == "tables") return tables();
  if (name == "few") return few();
  if (name == "addresses") return addresses();
  if (name == "filled") return filled();
  if (name == "full") return full();
  if (name == "killed") return killed();
  if (name == "copies") return lapse::test::copies_in_little_memory();
  if (name == "killed_in_rounds") return lapse::test::killed_in_rounds();
  if (name == "hosts") return hosts();
  throw std::runtime_error("unknown case");
}

}  // namespace

int main(int count, char** arguments) {
  prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = lapse::test::run_case(count, arguments, run);
  if (status != EXIT_SUCCESS) return status;
  MPI_Finalize();
  if (rank == 0) std::puts("the results are right");
  return EXIT_SUCCESS;
}

// Makes and closes many servers and managers in one job. They must leave nothing: no communicators, windows
// or other MPI handles, no files, threads or shared memory, and no growing memory.
//   many_servers_program SERVERS
// Compares what the job uses after a tenth of the servers and after all.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "adapm/parameter_manager.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/soak_memory.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::SoakMemory;

constexpr std::uint64_t kKeys = 60;
constexpr std::int64_t kHeapGrowth = 256 << 10;  // bytes per rank
constexpr std::int64_t kPrivateGrowth = 2 << 20;

// Counts the MPI objects. Handles are counted by their Fortran numbers, which Open MPI reuses; a library that
// assigns numbers in another way gives constant counts.
struct Handles {
  static constexpr std::array<std::string_view, 8> kNames{"communicators",      "groups",     "windows",
                                                          "datatypes",          "requests",   "operations",
                                                          "keys of attributes", "error codes"};

  static std::array<std::int64_t, kNames.size()> now() {
    void* last_code = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last_code, &is_set);
    return {used([](MPI_Fint number) { return MPI_Comm_f2c(number); }, MPI_COMM_NULL),
            used([](MPI_Fint number) { return MPI_Group_f2c(number); }, MPI_GROUP_NULL),
            used([](MPI_Fint number) { return MPI_Win_f2c(number); }, MPI_WIN_NULL),
            used([](MPI_Fint number) { return MPI_Type_f2c(number); }, MPI_DATATYPE_NULL),
            used([](MPI_Fint number) { return MPI_Request_f2c(number); }, MPI_REQUEST_NULL),
            used([](MPI_Fint number) { return MPI_Op_f2c(number); }, MPI_OP_NULL),
            highest_key(),
            *static_cast<int*>(last_code)};
  }

 private:
  // MPI libraries may define functions as macros.
  template <class Handle>
  static std::int64_t used(auto of_number, Handle null) {
    constexpr MPI_Fint kNumbers = 20'000;
    std::int64_t count = 0;
    for (MPI_Fint number = 0; number < kNumbers; ++number) {
      const Handle handle = of_number(number);
      count += handle != Handle{} && handle != null ? 1 : 0;
    }
    return count;
  }
  // Probes several objects, so that gaps below do not hide leaked ones.
  static std::int64_t highest_key() {
    std::array<int, 50> keys{};
    for (int& key : keys)
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    const int highest = *std::ranges::max_element(keys);
    for (int& key : keys) MPI_Comm_free_keyval(&key);
    return highest;
  }
};

template <class Server, class SomeWorker>
void use(Server& server) {
  const auto table =
      server.template create_table<std::int64_t>({.name = "values", .keys = kKeys, .length = 5});
  const auto sparse = server.template create_table<float>({.name = "sparse", .sparse = true});
  server.run_workers(2, [&](SomeWorker& worker) {
    const auto keys = key_range(0, kKeys);
    worker.localize(table, std::span(keys).subspan(worker.index(), 7));
    worker.push(table, keys, std::vector<std::int64_t>(kKeys * 5, 1));
    worker.push(sparse, Key(1000 * worker.index()), std::vector<float>{1.0F});
    worker.sync_barrier();
    std::vector<std::int64_t> values(kKeys * 5);
    worker.pull(table, keys, values).wait();
    const std::vector<std::int64_t> expected(kKeys * 5, static_cast<std::int64_t>(worker.count()));
    expect(values == expected, "the sum of this server's workers");
  });
}

// Makes a server and a manager alternately; every fourth time with a second server on some of the ranks.
void use_one(int number, MPI_Comm part) {
  if (number % 2 == 0) {
    ParameterServer server(MPI_COMM_WORLD);
    use<ParameterServer, Worker>(server);
    if (number % 4 == 0) {
      ParameterServer second(part);
      use<ParameterServer, Worker>(second);
    }
    server.close();
  } else {
    adapm::ParameterManager manager(MPI_COMM_WORLD);
    use<adapm::ParameterManager, adapm::IntentWorker>(manager);
    if (number % 4 == 1) manager.close();  // else its destructor closes it
  }
}

// The resources that a rank of the job uses.
struct Use {
  SoakMemory::Numbers memory;
  std::array<std::int64_t, Handles::kNames.size()> handles;

  static Use now() { return {SoakMemory::of_job(), Handles::now()}; }
};

bool is_flat(const Use& before, const Use& after, int ranks, bool prints) {
  bool flat = true;
  const auto compare = [&](std::string_view name, std::int64_t a, std::int64_t b, std::int64_t growth) {
    const bool grown = b > a + growth;
    if (prints || grown)
      std::printf("%s%.*s: %ld, then %ld\n", grown ? "GROWN " : "", static_cast<int>(name.size()),
                  name.data(), static_cast<long>(a), static_cast<long>(b));
    flat &= !grown;
  };
  for (std::size_t i = 0; i < SoakMemory::kKinds.size(); ++i) {
    const SoakMemory::Kind& kind = SoakMemory::kKinds[i];
    // MPI and the allocator may keep some pages: far less than a server has.
    const std::int64_t growth = std::min(kind.bound, kind.name == "heap KiB" ? kHeapGrowth : kPrivateGrowth);
    compare(kind.name, before.memory[i] / kind.unit, after.memory[i] / kind.unit, ranks * growth / kind.unit);
  }
  for (std::size_t i = 0; i < Handles::kNames.size(); ++i)
    compare(Handles::kNames[i], before.handles[i], after.handles[i], 0);
  return flat;
}

}  // namespace

int main(int count, char** arguments) {
  const int servers = count == 2 ? std::atoi(arguments[1]) : 0;
  prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1 ? 1 : 0, 0, &part);
  bool flat = false;
  try {
    expect(servers >= 10, "at least 10 servers");
    Use before;
    for (int number = 0; number < servers; ++number) {
      use_one(number, part);
      if (number + 1 == servers / 10) before = Use::now();
    }
    flat = is_flat(before, Use::now(), ranks, rank == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Comm_free(&part);
  MPI_Finalize();
  return flat ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Tables of processes with a limited address space (ulimit -v).
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::thrown_text;

namespace {

constexpr std::size_t kMegabyte = 1'000'000;

// While it lives, this process can map at most the given number of bytes more than now.
class LimitedAddresses {
 public:
  explicit LimitedAddresses(std::size_t more_bytes) {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~LimitedAddresses() { setrlimit(RLIMIT_AS, &before_); }
  LimitedAddresses(const LimitedAddresses&) = delete;
  LimitedAddresses& operator=(const LimitedAddresses&) = delete;

 private:
  rlimit before_{};
};

Table<float> make(ParameterServer& server, const std::string& name, std::size_t length,
                  std::optional<std::uint64_t> memory_limit_bytes = {}) {
  return server.create_table<float>(
      {.name = name, .sparse = true, .length = length, .memory_limit_bytes = memory_limit_bytes});
}

// Each worker pushes to this many keys, which no other worker has.
void push_keys(Worker& worker, const Table<float>& table, std::uint64_t keys) {
  const std::vector<float> ones(table.length(), 1);
  for (std::uint64_t i = 0; i < keys; ++i)
    worker.push(table, Key(mix_bits(i * worker.count() + worker.index())), ones).wait();
}

}  // namespace

TEST_CASE("Several sparse tables without limits of their own are made and used in limited addresses") {
  for (const std::size_t more : {500 * kMegabyte, 800 * kMegabyte, 3800 * kMegabyte, 15800 * kMegabyte}) {
    INFO(more << " bytes");
    ParameterServer server(MPI_COMM_WORLD);
    const LimitedAddresses limited(more);
    std::vector<Table<float>> tables;
    for (const std::size_t length : {4, 4, 50, 1000})
      tables.push_back(make(server, "table " + std::to_string(tables.size()), length));
    TableOptions lengths{.name = "lengths", .sparse = true};
    lengths.lengths = [](Key key) { return 1 + key.value() % 30; };
    tables.push_back(server.create_table<float>(lengths));
    server.run_workers(1, [&](Worker& worker) {
      constexpr std::uint64_t kKeys = 500;
      for (const Table<float>& table : tables) {
        for (std::uint64_t key = 0; key < kKeys; ++key) {
          const Key hashed(mix_bits(key));
          const std::vector<float> ones(table.length(hashed), 1);
          worker.push(table, hashed, ones);
        }
      }
      worker.barrier();
      for (const Table<float>& table : tables) {
        for (std::uint64_t key = 0; key < kKeys; ++key) {
          const Key hashed(mix_bits(key));
          std::vector<float> value(table.length(hashed));
          worker.pull(table, hashed, value).wait();
          expect(value.back() == static_cast<float>(worker.count()), "the pushes of all workers");
        }
      }
      worker.barrier();
    });
  }
}

TEST_CASE("A sparse table without a limit takes an eighth of limited addresses; the error names the remedy") {
  ParameterServer server(MPI_COMM_WORLD);
  const LimitedAddresses limited(500 * kMegabyte);
  const auto growing = make(server, "growing", 50'000);
  const std::string text = thrown_text<PeerFailed>(
      [&] { server.run_workers(1, [&](Worker& worker) { push_keys(worker, growing, 100'000); }); });
  INFO(text);
  CHECK(contains(text, "table 'growing' on rank"));
  CHECK(contains(text, "leaves it 6"));  // some 62 MB
  CHECK(contains(text, "set memory_limit_bytes, or raise ulimit -v"));
}

TEST_CASE("In limited addresses, a sparse table takes as much as its own limit, if that leaves some") {
  ParameterServer server(MPI_COMM_WORLD);
  const LimitedAddresses limited(600 * kMegabyte);
  const std::string text = thrown_text<OutOfMemory>([&] { make(server, "large", 50'000, 550 * kMegabyte); });
  INFO(text);
  CHECK(contains(text, "table 'large' needs addresses for"));
  CHECK(contains(text, "must be left to the program"));
  CHECK(contains(text, "ulimit -v"));
  const auto table = make(server, "fits", 50'000, 250 * kMegabyte);
  server.run_workers(1, [&](Worker& worker) {
    push_keys(worker, table, 1000 / worker.count());  // 200 MB
    worker.barrier();
  });
}

TEST_CASE("A dense table that would leave no addresses to the program is refused on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  const LimitedAddresses limited(300 * kMegabyte);
  const auto create = [&](const std::string& name, std::uint64_t keys) {
    return server.create_table<float>({.name = name, .keys = keys, .length = 100});
  };
  const std::string text = thrown_text<OutOfMemory>([&] { create("large", 600'000); });
  INFO(text);
  CHECK(contains(text, "table 'large' needs addresses for 244.8 MB on rank"));
  CHECK(contains(text, "must be left to the program"));
  CHECK(contains(text, "ulimit -v"));
  const auto table = create("fits", 200'000);
  server.run_workers(1, [&](Worker& worker) {
    worker.push(table, Key(199'999), std::vector<float>(100, 1));
    worker.barrier();
    std::vector<float> value(100);
    worker.pull(table, Key(199'999), value).wait();
    expect(value.back() == static_cast<float>(worker.count()), "the pushes of all workers");
  });
}

TEST_CASE("A value without memory for the message that answers a pull is an error on every rank") {
  Options options;
  options.domain = {DomainChoice::Kind::rank};
  ParameterServer server(MPI_COMM_WORLD, options);
  if (server.ranks() == 1) return;  // There are no messages.
  constexpr std::size_t kLength = 25'000'000;
  const auto table = server.create_table<float>(
      {.name = "values", .keys = 2, .length = kLength, .home = HomeMapKind::range});
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(1, [&](Worker& worker) {
      std::optional<LimitedAddresses> limited;
      if (worker.rank() == Rank(0)) {
        limited.emplace(50 * kMegabyte);
        worker.barrier();
      } else {
        worker.barrier();
        std::vector<float> value(kLength);
        worker.pull(table, Key(0), value).wait();
      }
      worker.barrier();
    });
  });
  INFO(text);
  CHECK(contains(text, "memory"));
}

TEST_CASE(
    "A packet for which there is no memory ends the workers of every rank by a typed error, not the job") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) return;  // No other rank sends.
  Options options = Options::from_environment();
  options.domain = {DomainChoice::Kind::rank, 1};
  constexpr std::size_t kBytes = 96 * kMegabyte;
  ParameterServer server(MPI_COMM_WORLD, options);
  const auto table = server.create_table<float>({.name = "one value",
                                                 .keys = 1,
                                                 .length = kBytes / sizeof(float),
                                                 .home = HomeMapKind::custom,
                                                 .home_function = [](Key) { return 1; }});
  std::optional<LimitedAddresses> limited;
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(1, [&](Worker& worker) {
      if (worker.rank() == Rank(1)) limited.emplace(kBytes / 2);
      worker.barrier();
      try {
        if (worker.rank() == Rank(0)) {
          const std::vector<float> ones(table.length(), 1);
          worker.push(table, Key(0), ones).wait();
        }
        worker.barrier();
      } catch (...) {
        limited.reset();  // Like when ended workers free memory: then the packet can be received.
        throw;
      }
    });
  });
  CHECK(contains(text, "rank 1 failed: no memory for a packet of 96"));
  CHECK(contains(text, "from rank 0"));
  server.close();
}

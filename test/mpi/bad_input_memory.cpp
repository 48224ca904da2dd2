// Sparse tables that grow beyond their limits.
#include <mpi.h>

#include <atomic>
#include <functional>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::thrown_text;

namespace {

// The home of all keys is the last rank, and every worker pushes to them.
struct Limited {
  std::string name;
  std::function<void(TableOptions&)> limit;
};

const std::vector<Limited>& limits() {
  static const std::vector<Limited> all{
      {"keys", [](TableOptions& options) { options.max_keys = 100; }},
      {"bytes", [](TableOptions& options) { options.memory_limit_bytes = 2 << 20; }},
  };
  return all;
}

}  // namespace

TEST_CASE(
    "A sparse table that outgrows its limit gives OutOfMemory to the worker that asked, PeerFailed to "
    "others") {
  for (const Limited& limited : limits()) {
    for (const bool own_lengths : {false, true}) {
      for (const bool localized : {false, true}) {
        INFO(limited.name << " lengths " << own_lengths << " localized " << localized);
        ParameterServer server(MPI_COMM_WORLD);
        const std::int32_t last = server.ranks() - 1;
        TableOptions options{.name = "crowded", .sparse = true, .length = 16};
        limited.limit(options);
        if (own_lengths) options.lengths = [](Key key) { return 1 + key.value() % 40; };
        options.home = HomeMapKind::custom;
        options.home_function = [last](Key) { return last; };
        const auto table = server.create_table<double>(options);
        bool failed = false;
        std::atomic<int> out_of_memory{0};
        try {
          server.run_workers(1, [&](Worker& worker) {
            try {
              for (std::uint64_t i = 0;; ++i) {
                const Key key(mix_bits(i * worker.count() + worker.index()));
                if (localized) {
                  worker.localize(table, key).wait();
                }
                worker.push(table, key, std::vector<double>(table.length(key), 1)).wait();
                expect(i < 10'000'000, "an end");
              }
            } catch (const OutOfMemory&) {
              ++out_of_memory;
              throw;
            }
          });
        } catch (const PeerFailed& error) {
          failed = true;
          INFO(error.text());
          CHECK((out_of_memory == 1 || error.origin() != server.rank()));
          CHECK(contains(error.text(), "of table 'crowded' on rank "));
          if (!localized) CHECK(contains(error.text(), "rank " + std::to_string(last)));
        }
        CHECK(failed);
        server.close();
      }
    }
  }
}

TEST_CASE("Limits for which not even an empty table has room are refused when it is made") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options{.name = "tiny", .sparse = true, .memory_limit_bytes = 1};
  const std::string text = thrown_text<OutOfMemory>([&] { server.create_table<float>(options); });
  INFO(text);
  CHECK(contains(text, "'tiny'"));
  options.memory_limit_bytes.reset();
  const auto table = server.create_table<float>(options);
  server.run_workers(1, [&](Worker& worker) {
    worker.push(table, Key(3), std::vector<float>{1});
    worker.barrier();
  });
}

TEST_CASE("Limits that differ between ranks are refused with both values") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;
  const bool last = server.rank().value() == server.ranks() - 1;
  TableOptions options{.name = "limited", .sparse = true, .memory_limit_bytes = last ? 8 << 20 : 16 << 20};
  const auto create = [&] { server.create_table<float>(options); };
  CHECK(contains(thrown_text<CollectiveMismatch>(create),
                 "memory_limit_bytes is '16777216' against '8388608'"));
  options.memory_limit_bytes = 8 << 20;
  if (last) options.max_keys = 1000;
  CHECK(contains(thrown_text<CollectiveMismatch>(create), "max_keys is 'none' against '1000'"));
  options.max_keys = 1000;
  CHECK_NOTHROW(create());
}

TEST_CASE("As many keys as a table may have fit into it") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.sparse = true, .max_keys = 100});
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() == 0) {
      for (std::uint64_t key = 0; key < 100; ++key) {
        worker.push(table, Key(mix_bits(key)), std::vector<float>{1}).wait();
      }
      for (std::uint64_t key = 100; key < 200; ++key) {
        std::vector<float> value(1);
        worker.pull(table, Key(mix_bits(key)), value).wait();
      }
    }
    worker.barrier();
  });
  CHECK(server.statistics().table_total(table.id()).keys_here == 100);
}

// Sparse tables and tables with per-key lengths, described or used incorrectly.
#include <mpi.h>

#include <functional>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::thrown_text;

namespace {

bool on_last_rank(const ParameterServer& server) {
  return server.rank().value() == server.ranks() - 1;
}

TableOptions good() {
  return {.name = "rows", .sparse = true, .length = 3};
}

void check_usable(ParameterServer& server) {
  const auto table = server.create_table<float>({.sparse = true});
  server.run_workers(1, [&](Worker& worker) {
    worker.push(table, Key(~std::uint64_t{0}), std::vector<float>{1});
    worker.barrier();
  });
}

}  // namespace

TEST_CASE("Options that contradict each other are refused on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  struct Bad {
    std::function<void(TableOptions&)> apply;
    std::string part;
  };
  const std::vector<Bad> all{
      {[](TableOptions& options) { options.keys = 10; }, "10 keys"},
      {[](TableOptions& options) { options.home = HomeMapKind::range; }, "range"},
      {[](TableOptions& options) { options.home = HomeMapKind::custom; }, "custom home map"},
      {[](TableOptions& options) { options.max_keys = 0; }, "0 keys"},
      {[](TableOptions& options) { options.max_keys = std::uint64_t{1} << 32; }, "keys"},
      {[](TableOptions& options) { options.length = 0; }, "0 elements"},
      {[](TableOptions& options) {
         options.sparse = false;
         options.keys = 10;
         options.max_keys = 10;
       },
       "dense"},
      {[](TableOptions& options) {
         options.sparse = false;
         options.keys = 10;
         options.memory_limit_bytes = 1000;
       },
       "dense"},
      {[](TableOptions& options) {
         options.sparse = false;
         options.keys = 10;
         options.lengths = [](Key key) { return key == Key(7) ? std::size_t{0} : std::size_t{2}; };
       },
       "0 elements for key 7"},
      {[](TableOptions& options) {
         options.sparse = false;
         options.keys = 10;
         options.lengths = [](Key) { return ~std::size_t{0}; };
       },
       "for key 0"},
  };
  for (const Bad& bad : all) {
    TableOptions options = good();
    bad.apply(options);
    const std::string text = thrown_text<ConfigurationError>([&] { server.create_table<float>(options); });
    INFO(text);
    CHECK(contains(text, bad.part));
  }
  check_usable(server);
}

TEST_CASE("Sparse on one rank, or with other lengths, is a mismatch on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;  // There is no other rank to differ from.
  const bool last = on_last_rank(server);
  TableOptions dense{.name = "rows", .keys = 30, .length = 3};
  const auto differ = [&](const TableOptions& mine) {
    return thrown_text<CollectiveMismatch>([&] { server.create_table<float>(mine); });
  };
  const std::string sparse_text = differ(last ? good() : dense);
  INFO(sparse_text);
  CHECK((contains(sparse_text, "sparse is") || contains(sparse_text, "number of keys")));

  TableOptions other_length = good();
  other_length.length = last ? 4 : 3;
  CHECK(contains(differ(other_length), "length is '3' against '4'"));

  TableOptions own_lengths = good();
  if (last) own_lengths.lengths = [](Key) { return std::size_t{3}; };
  CHECK(contains(differ(own_lengths), "length is '3' against '0'"));

  TableOptions listed = dense;
  listed.lengths = [last](Key key) { return std::size_t{key == Key(11) && last ? 5U : 4U}; };
  CHECK(contains(differ(listed), "lengths"));
  check_usable(server);
}

TEST_CASE("A function of lengths that is wrong on one rank alone is PeerFailed on the others") {
  ParameterServer server(MPI_COMM_WORLD);
  const bool last = on_last_rank(server);
  TableOptions options{.name = "rows", .keys = 30};
  options.lengths = [last](Key key) { return std::size_t{key == Key(3) && last ? 0U : 4U}; };
  const auto create = [&] { server.create_table<float>(options); };
  const std::string text = last ? thrown_text<ConfigurationError>(create) : thrown_text<PeerFailed>(create);
  CHECK(contains(text, "0 elements for key 3"));
  check_usable(server);
}

TEST_CASE("Sparse keys with rows of a wrong length are refused, and nothing is made") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>(good());
  server.run_workers(1, [&](Worker& worker) {
    const Key key(~std::uint64_t{0} - worker.index());
    const std::vector<Key> keys{key, Key(5)};
    std::vector<float> row(4);
    const std::vector<std::function<void()>> calls{
        [&] { worker.push(table, key, row); },          [&] { worker.push(table, keys, row); },
        [&] { worker.set(table, key, row); },           [&] { worker.pull(table, key, row).wait(); },
        [&] { worker.pull_if_local(table, key, row); },
    };
    for (const auto& call : calls) {
      expect(contains(thrown_text<LengthMismatch>(call), "'rows'"), "the table");
    }
    worker.barrier();
  });
  CHECK(server.statistics().table_total(table.id()).keys_here == 0);
}

TEST_CASE("A sparse key whose length is impossible is refused by every call on it") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options = good();
  options.lengths = [](Key key) { return std::size_t{key == Key(13) ? 0U : 2U}; };
  const auto table = server.create_table<float>(options);
  const auto touch = server.register_function<float>("touch", [](Key, std::span<float>) {});
  server.run_workers(1, [&](Worker& worker) {
    std::vector<float> row(2);
    std::vector<float> none;
    const std::vector<Key> keys{Key(13)};
    const std::vector<std::function<void()>> calls{
        [&] { worker.push(table, Key(13), row); },
        [&] { worker.push(table, keys, none); },
        [&] { worker.set(table, Key(13), none); },
        [&] { worker.pull(table, Key(13), row).wait(); },
        [&] { worker.pull_if_local(table, Key(13), none); },
        [&] { worker.update_if_local(table, Key(13), [](std::span<float>) {}); },
        [&] { worker.call(table, touch, keys).wait(); },
        [&] { worker.localize(table, Key(13)); },
        [&] { static_cast<void>(worker.lease(table, keys)); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::string text = thrown_text<Error>(calls[i]);
      expect(contains(text, "0 elements for key 13"), "call " + std::to_string(i) + " reports: " + text);
    }
    worker.push(table, Key(14), row);
    worker.localize(table, Key(15)).wait();
    worker.barrier();
  });
}

TEST_CASE("A custom home of a sparse key that is no rank ends the phase on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  if (ranks == 1) return;  // There is only one home.
  TableOptions options = good();
  options.home = HomeMapKind::custom;
  options.home_function = [ranks](Key key) { return key == Key(13) ? ranks : 0; };
  const auto table = server.create_table<float>(options);
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(1, [&](Worker& worker) {
      std::vector<float> row(3);
      if (worker.index() + 1 == worker.count()) worker.push(table, Key(13), row).wait();
      worker.barrier();
    });
  });
  INFO(text);
  CHECK(contains(text, "the home map of table 'rows' gives rank " + std::to_string(ranks) + " for key 13"));
  server.close();
}

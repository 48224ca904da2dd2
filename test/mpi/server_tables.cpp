#include <mpi.h>

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/directory/home_map.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 101;

template <Element T>
std::vector<T> initial_values(const TableOptions& options) {
  std::vector<T> values(options.keys * options.length);
  for (std::uint64_t key = 0; key < options.keys; ++key) {
    options.initialiser.fill(options.seed, Key(key), element_type<T>(), options.length,
                             reinterpret_cast<std::byte*>(values.data() + key * options.length));
  }
  return values;
}

template <Element T>
Initialiser function_of_key() {
  return Initialiser::function<T>([](Key key, std::span<T> value) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<T>(key.value() * 10 + i);
  });
}

// Initial values are those of the initialiser, whatever the number of ranks; pushes add to them.
template <Element T>
void check_type(ParameterServer& server) {
  const std::vector<Initialiser> initialisers{Initialiser::zero(), Initialiser::constant(3),
                                              Initialiser::uniform(-8, 8), Initialiser::normal(0, 4),
                                              function_of_key<T>()};
  std::vector<Table<T>> tables;
  std::vector<std::vector<T>> expected;
  for (std::size_t i = 0; i < initialisers.size(); ++i) {
    const TableOptions options{.name = std::string(element_name(element_type<T>())) + std::to_string(i),
                               .keys = kKeys,
                               .length = i + 1,
                               .initialiser = initialisers[i],
                               .seed = 40 + i};
    tables.push_back(server.create_table<T>(options));
    expected.push_back(initial_values<T>(options));
    CHECK(tables.back().keys() == kKeys);
    CHECK(tables.back().length() == i + 1);
    CHECK(tables.back().name() == options.name);
  }
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      std::vector<T> values(expected[i].size(), T{99});
      worker.pull(tables[i], keys, values).wait();
      expect(values == expected[i], "values of the initialiser in table " + tables[i].name());
    }
    worker.barrier();
    const std::vector<T> ones(kKeys, T{1});
    worker.push(tables[0], keys, ones);
    worker.push(tables[0], keys, ones);
    worker.barrier();
    std::vector<T> sums(kKeys);
    worker.pull(tables[0], keys, sums).wait();
    expect(sums == std::vector<T>(kKeys, static_cast<T>(2 * worker.count())), "the sum of all pushes");
  });
}

}  // namespace

TEST_CASE("Tables of every element type begin with their initialiser and add pushes") {
  ParameterServer server(MPI_COMM_WORLD);
  check_type<float>(server);
  check_type<double>(server);
  check_type<std::int32_t>(server);
  check_type<std::int64_t>(server);
}

TEST_CASE("At the start every key is at its home") {
  ParameterServer server(MPI_COMM_WORLD);
  const DomainMap domains = lapse::test::domains_of_world();
  const std::int32_t last = server.ranks() - 1;
  const auto by_rank = [last](Key key) { return key.value() % 3 == 0 ? last : 0; };
  const auto by_domain = [&](Key key) { return domains.domain_of(Rank(by_rank(key))).value(); };
  const std::int32_t count = domains.domains();
  const Domain self = domains.domain_of(server.rank());
  struct Case {
    HomeMapKind kind;
    HomeMap expected;
  };
  for (const Case& one : {Case{HomeMapKind::hash, HomeMap::hash(kKeys, count, self)},
                          Case{HomeMapKind::range, HomeMap::range(kKeys, count, self)},
                          Case{HomeMapKind::custom, HomeMap::custom(kKeys, count, self, by_domain)}}) {
    TableOptions options{.keys = kKeys, .home = one.kind};
    if (one.kind == HomeMapKind::custom) options.home_function = by_rank;
    const auto table = server.create_table<std::int64_t>(options);
    server.run_workers(1, [&](Worker& worker) {
      std::vector<std::int64_t> value(table.length());
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        expect(worker.pull_if_local(table, Key(key), value) == (one.expected.home(Key(key)) == self),
               "key " + std::to_string(key) + " at its home");
      }
      std::vector<std::int64_t> all(kKeys);
      worker.pull(table, key_range(0, kKeys), all).wait();
    });
  }
}

TEST_CASE("With the rule assign the last push wins; set replaces under both rules") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto assigned =
      server.create_table<double>({.keys = kKeys, .length = 3, .update_rule = UpdateRule::assign()});
  const auto added = server.create_table<double>({.keys = kKeys, .length = 3});
  server.run_workers(2, [&](Worker& worker) {
    // Every worker writes keys of its own.
    std::vector<Key> keys;
    for (std::uint64_t key = worker.index(); key < kKeys; key += worker.count()) keys.emplace_back(key);
    const std::vector<double> first(keys.size() * 3, 1.5);
    const std::vector<double> second(keys.size() * 3, -2.5);
    worker.push(assigned, keys, first);
    worker.push(assigned, keys, second);
    worker.push(added, keys, first);
    worker.set(added, keys, second);
    worker.push(added, keys, first);
    std::vector<double> values(keys.size() * 3);
    worker.pull(assigned, keys, values).wait();
    expect(values == second, "the last push of an assigned key");
    worker.pull(added, keys, values).wait();
    expect(values == std::vector<double>(keys.size() * 3, -1.0), "set, then push");
    worker.set(assigned, keys, first).wait();
    worker.pull(assigned, keys, values).wait();
    expect(values == first, "set of an assigned key");
  });
}

TEST_CASE("Values of 40 KB, single elements, and tables side by side") {
  ParameterServer server(MPI_COMM_WORLD);
  constexpr std::size_t kLarge = 10'240;
  const auto large = server.create_table<float>({.name = "large", .keys = 9, .length = kLarge});
  const auto small = server.create_table<std::int32_t>({.name = "small", .keys = 5000});
  server.run_workers(1, [&](Worker& worker) {
    const auto large_keys = key_range(0, 9);
    const auto small_keys = key_range(0, 5000);
    std::vector<float> large_values(9 * kLarge);
    std::iota(large_values.begin(), large_values.end(), 0.0F);
    const std::vector<std::int32_t> small_values(5000, 7);
    for (int round = 0; round < 3; ++round) {
      worker.push(large, large_keys, large_values);
      worker.push(small, small_keys, small_values);
      if (worker.index() == static_cast<std::size_t>(round) % worker.count()) {
        worker.localize(large, large_keys);
        worker.localize(small, small_keys);
      }
    }
    worker.barrier();
    std::vector<float> got(9 * kLarge);
    worker.pull(large, large_keys, got).wait();
    const auto times = static_cast<float>(3 * worker.count());
    for (std::size_t i = 0; i < got.size(); ++i) {
      expect(got[i] == large_values[i] * times, "element " + std::to_string(i) + " of the large values");
    }
    std::vector<std::int32_t> small_got(5000);
    worker.pull(small, small_keys, small_got).wait();
    expect(small_got == std::vector<std::int32_t>(5000, 21 * static_cast<std::int32_t>(worker.count())),
           "small values");
  });
}

TEST_CASE("Tables without a name get one; tables may be made between phases") {
  ParameterServer server(MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) {
    const auto table = server.create_table<float>({.keys = 3});
    CHECK(table.name() == "table-" + std::to_string(i));
    CHECK(table.id() == TableId(static_cast<std::uint32_t>(i)));
    server.run_workers(1, [&](Worker& worker) {
      std::vector<float> value(table.length());
      worker.pull(table, Key(2), value).wait();
    });
  }
}

TEST_CASE("A table reports what memory it uses on this rank") {
  ParameterServer server(MPI_COMM_WORLD);
  constexpr std::uint64_t kMany = 100'000;
  const auto table = server.create_table<float>({.keys = kMany, .length = 4});
  const DomainMap domains = lapse::test::domains_of_world();
  const Domain self = domains.domain_of(server.rank());
  const auto members = domains.members(self).size();
  // Of the keys that its domain owns, a rank stores those that it serves.
  const auto serves = [&](Key key) { return domains.serving_rank(key, self) == server.rank(); };
  std::uint64_t own = 0;
  std::uint64_t served = 0;
  HomeMap::hash(kMany, domains.domains(), self).for_each_own_key([&](Key key) {
    own += serves(key) ? 1 : 0;
  });
  for (const Key key : key_range(0, kMany)) served += serves(key) ? 1 : 0;
  auto use = server.memory_use(table);
  const auto estimated = server.estimate_memory<float>({.keys = kMany, .length = 4});
  CHECK(estimated.values == use.values);
  CHECK(estimated.words == kMany * 8 / members);
  CHECK(estimated.ownership == use.ownership);
  CHECK(server.memory_use().total() == use.total() + server.memory_use().buffers);
  CHECK((server.ranks() == 1 || server.memory_use().buffers > 0));
  CHECK(use.words >= kMany * 8 / members);
  CHECK(use.words < kMany * 8 / members + 8192);
  CHECK(use.values == own * 16);
  CHECK(use.slabs >= use.values);
  CHECK(use.slabs < use.values + (4 << 20));
  CHECK(use.ownership >= HomeMap::hash(kMany, domains.domains(), self).own_keys() * 8 / members);
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() == 0) worker.localize(table, key_range(0, kMany)).wait();
  });
  use = server.memory_use(table);
  CHECK(use.values == (self == Domain(0) ? served * 16 : 0));
}

// Update rules on keys that localize moves between ranks.
#include <mpi.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/server_rule_reference.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::Momentum;
using lapse::test::RuleReference;

namespace {

constexpr std::uint64_t kKeys = 24;
constexpr std::size_t kLength = 5;
constexpr int kRounds = 150;

template <Element T>
std::vector<UpdateRule> all_rules() {
  return {UpdateRule::add(),
          UpdateRule::assign(),
          UpdateRule::sgd({.learning_rate = 0.1, .l2 = 0.01}),
          UpdateRule::adagrad({.learning_rate = 0.1, .l2 = 0.001, .initial_accumulator = 0.1}),
          UpdateRule::rowwise_adagrad({.learning_rate = 0.1}),
          UpdateRule::adam({.learning_rate = 0.01}),
          UpdateRule::ftrl({.l1 = 0.05, .l2 = 0.1}),
          UpdateRule::custom<T>(Momentum<T>{})};
}

TableOptions options_of(bool sparse) {
  TableOptions options{.length = kLength, .initialiser = Initialiser::uniform(-1, 1), .seed = 7};
  options.sparse = sparse;
  if (!sparse) options.keys = kKeys;
  return options;
}

// Spreads the keys of a sparse table over all 64 bits.
Key table_key(bool sparse, std::uint64_t number) {
  return sparse ? Key(mix_bits(number + 1)) : Key(number);
}

class Noise {
 public:
  explicit Noise(std::size_t worker) : engine_(1000 + worker) {}
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  template <Element T>
  std::array<T, kLength> update() {
    std::array<T, kLength> result;
    for (T& element : result) element = static_cast<T>(static_cast<double>(below(2001)) / 500 - 2);
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

// Random pushes and sets, each key by one worker, while all workers localize all keys. Values and states must
// be bit-equal to the reference.
template <Element T>
void check_rule(ParameterServer& server, const UpdateRule& rule, bool sparse) {
  TableOptions options = options_of(sparse);
  options.update_rule = rule;
  const auto table = server.create_table<T>(options);
  const bool scaled = rule.accepts_scale(element_type<T>());
  server.run_workers(2, [&](Worker& worker) {
    RuleReference<T> reference(rule, kLength, options.initialiser, options.seed);
    Noise noise(worker.index());
    std::vector<Key> own;
    for (std::uint64_t number = worker.index(); number < kKeys; number += worker.count()) {
      own.push_back(table_key(sparse, number));
    }
    for (int round = 0; round < kRounds && !own.empty(); ++round) {
      worker.localize(table, table_key(sparse, noise.below(kKeys)));
      const Key key = own[noise.below(own.size())];
      const auto update = noise.template update<T>();
      if (noise.below(20) == 0) {
        worker.set(table, key, update);
        reference.set(key, update);
      } else {
        const float scale = scaled && noise.below(3) == 0 ? 0.75F : 1.0F;
        worker.push(table, key, update, scale);
        reference.push(key, update, scale);
      }
      if (round % 10 == 9) {
        std::vector<T> value(kLength);
        worker.pull(table, key, value).wait();
        expect(reference.equal_value(key, value), "own pushes, in the order of the calls, of " + rule.name());
      }
    }
    worker.barrier();
    const Lease lease = worker.lease(table, own);
    const auto values = lease.values(table);
    for (std::size_t i = 0; i < own.size(); ++i) {
      expect(reference.equal_value(own[i], values[i]), "value of " + rule.name());
      expect(reference.equal_state(own[i], values.state(i)), "state of " + rule.name());
    }
  });
}

}  // namespace

TEST_CASE("Every rule gives the bits of a single-threaded reference while its keys move") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    for (const UpdateRule& rule : all_rules<float>()) check_rule<float>(server, rule, sparse);
    for (const UpdateRule& rule : all_rules<double>()) check_rule<double>(server, rule, sparse);
    for (const UpdateRule& rule : {UpdateRule::add(), UpdateRule::assign()}) {
      check_rule<std::int32_t>(server, rule, sparse);
    }
  }
}

TEST_CASE("Pushes of all workers to all keys: integers add up exactly, floats within the rounding of sums") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    TableOptions options = options_of(sparse);
    options.initialiser = Initialiser::zero();
    const auto integers = server.create_table<std::int64_t>(options);
    const auto floats = server.create_table<float>(options);
    server.run_workers(2, [&](Worker& worker) {
      Noise noise(worker.index());
      for (int round = 0; round < kRounds; ++round) {
        const std::vector<Key> keys{table_key(sparse, noise.below(kKeys)),
                                    table_key(sparse, noise.below(kKeys))};
        std::vector<std::int64_t> update;
        for (int row = 0; row < 2; ++row) {
          for (const std::int64_t element : noise.update<std::int64_t>()) update.push_back(1 + 3 * element);
        }
        worker.push(integers, keys, update);
        const std::vector<float> small(2 * kLength, 0.1F);
        worker.push(floats, keys, small, 0.5F);
        if (noise.below(3) == 0) worker.localize(integers, table_key(sparse, noise.below(kKeys)));
        if (noise.below(3) == 0) worker.localize(floats, table_key(sparse, noise.below(kKeys)));
      }
      worker.barrier();
      // Every worker recomputes what all workers have done.
      std::map<std::uint64_t, std::array<std::int64_t, kLength>> expected;
      std::map<std::uint64_t, int> pushes;
      for (std::size_t other = 0; other < worker.count(); ++other) {
        Noise again(other);
        for (int round = 0; round < kRounds; ++round) {
          const std::array<std::uint64_t, 2> numbers{again.below(kKeys), again.below(kKeys)};
          for (const std::uint64_t number : numbers) {
            const auto row = again.update<std::int64_t>();
            for (std::size_t i = 0; i < kLength; ++i) expected[number][i] += 1 + 3 * row[i];
            ++pushes[number];
          }
          for (int localize = 0; localize < 2; ++localize) {
            if (again.below(3) == 0) again.below(kKeys);
          }
        }
      }
      for (std::uint64_t number = 0; number < kKeys; ++number) {
        const Key key = table_key(sparse, number);
        std::array<std::int64_t, kLength> sum;
        worker.pull(integers, key, sum).wait();
        expect(sum == expected[number], "the exact sum of integers");
        std::array<float, kLength> value;
        worker.pull(floats, key, value).wait();
        const double exact = 0.05 * pushes[number];
        // Each of n additions rounds a partial sum of at most `exact`, and each update is rounded once.
        const double bound = exact * std::numeric_limits<float>::epsilon() * (pushes[number] + 1);
        expect(std::abs(static_cast<double>(value[0]) - exact) <= bound, "the sum of floats");
      }
    });
  }
}

TEST_CASE("The state of a rule goes with its key from rank to rank") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    for (const UpdateRule& rule : all_rules<double>()) {
      TableOptions options = options_of(sparse);
      options.update_rule = rule;
      const auto table = server.create_table<double>(options);
      server.run_workers(1, [&](Worker& worker) {
        RuleReference<double> reference(rule, kLength, options.initialiser, options.seed);
        const Key key = table_key(sparse, 3);
        Noise noise(1);
        for (std::size_t turn = 0; turn < 2 * worker.count() + 1; ++turn) {
          const auto update = noise.update<double>();
          reference.push(key, update);
          if (turn % worker.count() == worker.index()) {
            worker.localize(table, key).wait();
            worker.push(table, key, update).wait();  // the engine makes a sparse key at its first push
            std::vector<double> value(kLength);
            expect(worker.pull_if_local(table, key, value), "the key is here");
            const Lease lease = worker.lease(table, std::span(&key, 1));
            expect(reference.equal_value(key, lease.values(table)[0]), "value of " + rule.name());
            expect(reference.equal_state(key, lease.values(table).state(0)), "state of " + rule.name());
          }
          worker.barrier();
        }
      });
    }
  }
}

TEST_CASE("set starts the state anew; pushes give the same bits from near and from far") {
  ParameterServer server(MPI_COMM_WORLD);
  for (const UpdateRule& rule : all_rules<float>()) {
    TableOptions options = options_of(false);
    options.update_rule = rule;
    options.home = HomeMapKind::range;
    const auto used = server.create_table<float>(options);
    const auto fresh = server.create_table<float>(options);
    server.run_workers(1, [&](Worker& worker) {
      // Worker 0 writes to keys of all ranks; then the last worker reads them.
      const auto keys = key_range(0, kKeys);
      std::vector<float> value(kKeys * kLength, 0.5F);
      std::vector<float> gradient(kKeys * kLength, 0.25F);
      if (worker.index() == 0) {
        for (int i = 0; i < 4; ++i) worker.push(used, keys, gradient);
        worker.set(used, keys, value);
        worker.set(fresh, keys, value);
        worker.localize(fresh, keys).wait();
        for (int i = 0; i < 3; ++i) {
          worker.push(used, keys, gradient);
          worker.push(fresh, keys, gradient);
        }
      }
      worker.barrier();
      if (worker.index() + 1 == worker.count()) {
        std::vector<float> other(kKeys * kLength);
        worker.pull(used, keys, value).wait();
        worker.pull(fresh, keys, other).wait();
        expect(std::memcmp(value.data(), other.data(), value.size() * sizeof(float)) == 0,
               "the same values with rule " + rule.name());
        const Lease lease = worker.lease({LeaseKeys(used, keys), LeaseKeys(fresh, keys)});
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const auto a = lease.values(used).state(i);
          const auto b = lease.values(fresh).state(i);
          expect(std::memcmp(a.data(), b.data(), a.size_bytes()) == 0, "the same states with " + rule.name());
        }
      }
      worker.barrier();
    });
  }
}

TEST_CASE("A lease applies the rule as pushes do") {
  ParameterServer server(MPI_COMM_WORLD);
  for (const UpdateRule& rule : all_rules<double>()) {
    TableOptions options = options_of(false);
    options.update_rule = rule;
    const auto table = server.create_table<double>(options);
    const bool scaled = rule.accepts_scale(ElementType::float64);
    server.run_workers(1, [&](Worker& worker) {
      RuleReference<double> reference(rule, kLength, options.initialiser, options.seed);
      Noise noise(worker.index());
      const std::vector<Key> key{Key(worker.index())};
      for (int round = 0; round < 10; ++round) {
        const auto update = noise.update<double>();
        const float scale = scaled && round % 3 == 0 ? 0.5F : 1.0F;
        if (round % 2 == 0) {
          worker.push(table, key, update, scale);
        } else {
          const Lease lease = worker.lease(table, key);
          lease.values(table).apply(0, update, scale);
        }
        reference.push(key[0], update, scale);
      }
      const Lease lease = worker.lease(table, key);
      expect(reference.equal_value(key[0], lease.values(table)[0]), "value of " + rule.name());
      expect(reference.equal_state(key[0], lease.values(table).state(0)), "state of " + rule.name());
    });
  }
}

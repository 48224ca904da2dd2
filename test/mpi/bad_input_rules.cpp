// Impossible update rules and scales.
#include <mpi.h>

#include <functional>
#include <limits>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 20;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool on_last_rank(const ParameterServer& server) {
  return server.rank().value() == server.ranks() - 1;
}

TableOptions with(const UpdateRule& rule, bool sparse = false) {
  TableOptions options{.name = "weights", .update_rule = rule};
  options.sparse = sparse;
  if (!sparse) options.keys = kKeys;
  return options;
}

struct Named {
  std::string text;
  std::size_t state = 0;
  std::string name() const { return text; }
  std::size_t state_elements(std::size_t) const { return state; }
  void initialise(std::span<const float>, std::span<float>) const {}
  void apply(std::span<float>, std::span<float>, std::span<const float>, float) const {}
};

void check_usable(ParameterServer& server) {
  const auto table = server.create_table<float>(with(UpdateRule::adam()));
  server.run_workers(1, [&](Worker& worker) {
    worker.push(table, Key(1), std::vector<float>{1});
    worker.barrier();
  });
}

}  // namespace

TEST_CASE("Rules with impossible parameters are refused on every rank, with rule and parameter") {
  ParameterServer server(MPI_COMM_WORLD);
  struct Bad {
    UpdateRule rule;
    std::string part;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Bad> all{
      {UpdateRule::sgd({.learning_rate = -1}), "learning_rate"},
      {UpdateRule::sgd({.learning_rate = nan}), "learning_rate"},
      {UpdateRule::sgd({.l2 = std::numeric_limits<double>::infinity()}), "l2"},
      {UpdateRule::adagrad({.initial_accumulator = -0.5}), "initial_accumulator"},
      {UpdateRule::adagrad({.epsilon = 1e-60}), "epsilon"},
      {UpdateRule::rowwise_adagrad({.epsilon = -1}), "epsilon"},
      {UpdateRule::adam({.beta1 = 1}), "beta1"},
      {UpdateRule::adam({.beta2 = -0.1}), "beta2"},
      {UpdateRule::adam({.epsilon = 0}), "epsilon"},
      {UpdateRule::ftrl({.alpha = 0}), "alpha"},
      {UpdateRule::ftrl({.l1 = -1}), "l1"},
      {UpdateRule::ftrl({.beta = 0, .l2 = 0}), "beta"},
  };
  for (const Bad& bad : all) {
    for (const bool sparse : {false, true}) {
      const std::string text =
          thrown_text<ConfigurationError>([&] { server.create_table<float>(with(bad.rule, sparse)); });
      INFO(text);
      CHECK(contains(text, bad.part));
      CHECK(contains(text, bad.rule.name()));
    }
  }
  check_usable(server);
}

TEST_CASE("Optimisers need elements of a floating-point type; a custom rule the type it was written for") {
  ParameterServer server(MPI_COMM_WORLD);
  for (const UpdateRule& rule : {UpdateRule::sgd(), UpdateRule::adagrad(), UpdateRule::rowwise_adagrad(),
                                 UpdateRule::adam(), UpdateRule::ftrl()}) {
    const std::string text =
        thrown_text<ConfigurationError>([&] { server.create_table<std::int32_t>(with(rule)); });
    CHECK(contains(text, rule.name()));
    CHECK_THROWS_AS(server.create_table<std::int64_t>(with(rule, true)), ConfigurationError);
  }
  const UpdateRule custom = UpdateRule::custom<float>(Named{"mine"});
  CHECK(
      contains(thrown_text<ConfigurationError>([&] { server.create_table<double>(with(custom)); }), "mine"));
  check_usable(server);
}

TEST_CASE("A rule that is wrong on one rank alone is PeerFailed on the others") {
  ParameterServer server(MPI_COMM_WORLD);
  const bool last = on_last_rank(server);
  const auto create = [&] {
    server.create_table<float>(with(UpdateRule::adam({.beta1 = last ? 1.5 : 0.9})));
  };
  const std::string text = last ? thrown_text<ConfigurationError>(create) : thrown_text<PeerFailed>(create);
  CHECK(contains(text, "beta1"));
  check_usable(server);
}

TEST_CASE(
    "Rules that differ between ranks are a mismatch, by kind, by parameter, by name and state of a custom "
    "rule") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;  // There is no other rank to differ from.
  const bool last = on_last_rank(server);
  const std::vector<std::pair<UpdateRule, UpdateRule>> pairs{
      {UpdateRule::sgd(), UpdateRule::adam()},
      {UpdateRule::adagrad(), UpdateRule::adagrad({.learning_rate = 0.010000000000000002})},
      {UpdateRule::custom<float>(Named{"a"}), UpdateRule::custom<float>(Named{"b"})},
      {UpdateRule::custom<float>(Named{"a", 1}), UpdateRule::custom<float>(Named{"a", 2})},
  };
  for (const auto& [first, second] : pairs) {
    for (const bool sparse : {false, true}) {
      const auto create = [&, &mine = last ? second : first] {
        server.create_table<float>(with(mine, sparse));
      };
      CHECK(contains(thrown_text<CollectiveMismatch>(create), "update rule is '"));
    }
  }
  check_usable(server);
}

TEST_CASE("A scale where there is no learning rate, or that is no number, is refused; nothing is applied") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options = with(UpdateRule::assign());
  options.name = "assigned";
  const auto assigned = server.create_table<double>(options);
  options = with(UpdateRule::add());
  options.name = "integers";
  const auto integers = server.create_table<std::int64_t>(options);
  options = with(UpdateRule::sgd(), true);
  const auto trained = server.create_table<float>(options);
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(0), Key(1), Key(2)};
    const std::vector<double> doubles(3, 2);
    const std::vector<std::int64_t> counts(3, 2);
    const std::vector<float> gradients(3, 2);
    const std::vector<std::function<void()>> calls{
        [&] { worker.push(assigned, keys, doubles, 0.5F); },
        [&] { worker.push(assigned, Key(0), std::span(doubles).first(1), 0.5F); },
        [&] { worker.push(integers, keys, counts, 2.0F); },
        [&] { worker.push(integers, Key(1), std::span(counts).first(1), kNan); },
        [&] { worker.push(trained, keys, gradients, kNan); },
        [&] { worker.push(trained, keys, gradients, -kInfinity); },
        [&] { worker.push(trained, Key(2), std::span(gradients).first(1), kInfinity); },
    };
    for (const auto& call : calls) {
      const std::string text = thrown_text<UsageError>(call);
      expect(contains(text, "scale") && contains(text, "rank " + std::to_string(worker.rank().value())),
             "scale and rank in: " + text);
    }
    worker.push(integers, keys, std::vector<std::int64_t>(3, 0), 1.0F).wait();
    worker.barrier();
    std::vector<double> values(3);
    worker.pull(assigned, keys, values).wait();
    std::vector<std::int64_t> integer_values(3);
    worker.pull(integers, keys, integer_values).wait();
    std::vector<float> weights(3);
    worker.pull(trained, keys, weights).wait();
    expect(values == std::vector<double>(3) && integer_values == std::vector<std::int64_t>(3) &&
               weights == std::vector<float>(3),
           "nothing was applied");
  });
  CHECK(server.statistics().table_total(trained.id()).keys_here == 0);
}

TEST_CASE("A scale under a lease follows the same rules") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto assigned = server.create_table<double>(with(UpdateRule::assign()));
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(worker.index())};
    const std::vector<double> update(1, 2);
    const std::vector<double> wrong(2, 2);
    const Lease lease = worker.lease(assigned, keys);
    const auto values = lease.values(assigned);
    expect(contains(thrown_text<UsageError>([&] { values.apply(0, update, 0.5F); }), "scale"), "the scale");
    thrown_text<UsageError>([&] { values.apply(0, update, kNan); });
    thrown_text<LengthMismatch>([&] { values.apply(0, wrong); });
    expect(values[0][0] == 0, "nothing was applied");
    values.apply(0, update);
    expect(values[0][0] == 2, "applied");
  });
}

TEST_CASE("Limits of pushes that cannot be are refused on every rank, and those that differ are a mismatch") {
  ParameterServer server(MPI_COMM_WORLD);
  const bool last = on_last_rank(server);
  TableOptions options = with(UpdateRule::add());
  for (const double norm : {0.0, -1.0, static_cast<double>(kNan), static_cast<double>(kInfinity), 1e-60}) {
    options.max_push_norm = norm;
    const auto create = [&] { server.create_table<float>(options); };
    CHECK(contains(thrown_text<ConfigurationError>(create), "table 'weights': max_push_norm is "));
  }
  options.max_push_norm = 1;
  CHECK_THROWS_AS(server.create_table<std::int32_t>(options), ConfigurationError);
  options.max_push_norm.reset();
  options.not_finite = NotFinite::refuse;
  CHECK_THROWS_AS(server.create_table<std::int64_t>(options), ConfigurationError);
  if (server.ranks() > 1) {
    if (last) options.not_finite = NotFinite::count;
    const auto create = [&] { server.create_table<float>(options); };
    CHECK(contains(thrown_text<CollectiveMismatch>(create), "not_finite is 'refuse' against 'count'"));
    options.not_finite = NotFinite::allow;
    options.max_push_norm = last ? 0.1 : 0.30000000000000004;
    CHECK(contains(thrown_text<CollectiveMismatch>(create),
                   "max_push_norm is '0.30000000000000004' against '0.1'"));
  }
  check_usable(server);
}

#include <mpi.h>

#include <functional>

#include "lapse/core/error.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

TableOptions good() {
  return {.name = "factors", .keys = 20, .length = 3, .initialiser = Initialiser::uniform(-1, 1), .seed = 5};
}

bool on_last_rank(const ParameterServer& server) {
  return server.rank().value() == server.ranks() - 1;
}

// The last rank fails with `Own`, the others with PeerFailed. The message contains `part` on every rank.
template <class Own>
void check_fails_on_last(ParameterServer& server, const TableOptions& bad, std::string_view part) {
  std::string text;
  if (on_last_rank(server)) {
    text = thrown_text<Own>([&] { server.create_table<float>(bad); });
  } else {
    text = thrown_text<PeerFailed>([&] { server.create_table<float>(good()); });
  }
  INFO(text);
  CHECK(contains(text, part));
}

void check_usable(ParameterServer& server) {
  const auto table = server.create_table<float>({.keys = 10});
  server.run_workers(1, [&](Worker& worker) {
    worker.localize(table, Key(1));
    worker.barrier();
  });
}

}  // namespace

TEST_CASE("A table that one rank creates differently is a mismatch on every rank, which names the field") {
  // Ranks that share memory are one home, whichever of them a home map names.
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() == 1) return;  // There is no other rank to differ from.
  struct Difference {
    std::string part;
    std::function<void(TableOptions&)> apply;
  };
  const std::vector<Difference> differences{
      {"name is 'factors' against 'other'", [](TableOptions& options) { options.name = "other"; }},
      {"number of keys is '20' against '21'", [](TableOptions& options) { options.keys = 21; }},
      {"length is '3' against '4'", [](TableOptions& options) { options.length = 4; }},
      {"initialiser is 'uniform(-1, 1)' against 'uniform(-1, 2)'",
       [](TableOptions& options) { options.initialiser = Initialiser::uniform(-1, 2); }},
      {"seed is '5' against '6'", [](TableOptions& options) { options.seed = 6; }},
      {"home map is 'hash' against 'range'",
       [](TableOptions& options) { options.home = HomeMapKind::range; }},
      {"update rule is 'add' against 'assign'",
       [](TableOptions& options) { options.update_rule = UpdateRule::assign(); }},
      {"location caches", [](TableOptions& options) { options.location_caches = false; }},
  };
  for (const Difference& difference : differences) {
    TableOptions options = good();
    options.location_caches = true;
    if (on_last_rank(server)) difference.apply(options);
    const std::string text = thrown_text<CollectiveMismatch>([&] { server.create_table<float>(options); });
    INFO(text);
    CHECK(contains(text, difference.part));
    CHECK(contains(text, "ranks 0 and " + std::to_string(server.ranks() - 1)));
  }
  const auto other_type = [&] {
    if (on_last_rank(server)) {
      server.create_table<double>(good());
    } else {
      server.create_table<float>(good());
    }
  };
  CHECK(contains(thrown_text<CollectiveMismatch>(other_type), "element type is 'float' against 'double'"));

  TableOptions custom = good();
  custom.home = HomeMapKind::custom;
  const bool last = on_last_rank(server);
  custom.home_function = [last](Key key) { return key == Key(7) && last ? 1 : 0; };
  CHECK(contains(thrown_text<CollectiveMismatch>([&] { server.create_table<float>(custom); }),
                 "custom home map"));
  check_usable(server);
}

TEST_CASE("A name that is taken is refused on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  server.create_table<float>(good());
  CHECK(contains(thrown_text<ConfigurationError>([&] { server.create_table<float>(good()); }), "'factors'"));
  check_usable(server);
}

TEST_CASE("Impossible sizes, initialisers and home maps of all ranks are refused on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  std::vector<TableOptions> bad(7, good());
  bad[0].keys = 0;
  bad[1].length = 0;
  bad[2].keys = ~std::uint64_t{0};
  bad[3].length = ~std::size_t{0};
  bad[4].initialiser = Initialiser::uniform(1, -1);
  bad[5].home = HomeMapKind::custom;
  bad[6].home = HomeMapKind::custom;
  bad[6].home_function = [ranks](Key key) { return key == Key(3) ? ranks : 0; };
  for (const TableOptions& options : bad) {
    CHECK_THROWS_AS(server.create_table<float>(options), ConfigurationError);
  }
  TableOptions wrong_function = good();
  wrong_function.initialiser = Initialiser::function<double>([](Key, std::span<double>) {});
  CHECK_THROWS_AS(server.create_table<float>(wrong_function), ConfigurationError);
  check_usable(server);
}

TEST_CASE("What only one rank gets wrong is its own error there and PeerFailed on the other ranks") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  TableOptions no_keys = good();
  no_keys.keys = 0;
  check_fails_on_last<ConfigurationError>(server, no_keys, "0 keys");

  TableOptions home_out_of_range = good();
  home_out_of_range.home = HomeMapKind::custom;
  home_out_of_range.home_function = [ranks](Key) { return ranks; };
  check_fails_on_last<ConfigurationError>(server, home_out_of_range,
                                          "the home map of table 'factors' gives rank " +
                                              std::to_string(ranks) + " for key 0: expected 0 to " +
                                              std::to_string(ranks - 1));

  // Every rank makes keys, so the last one's exception reaches all of them.
  TableOptions throwing = good();
  throwing.keys = 100;
  throwing.initialiser = Initialiser::function<float>([last = on_last_rank(server)](Key, std::span<float>) {
    if (last) throw std::runtime_error("no value");
  });
  const auto create = [&] { server.create_table<float>(throwing); };
  CHECK(contains(on_last_rank(server) ? thrown_text<UserCodeFailed>(create) : thrown_text<PeerFailed>(create),
                 "no value"));
  check_usable(server);
}

TEST_CASE("What functions of the application throw names table, key and rank, on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::string last = std::to_string(server.ranks() - 1);
  const auto fails_on_last = [&](const TableOptions& bad, std::string_view key, std::string_view text) {
    check_fails_on_last<UserCodeFailed>(
        server, bad, std::string(key) + " of table 'factors' on rank " + last + ": " + std::string(text));
    check_usable(server);
  };
  // Every rank makes keys, so the last one's exception reaches all of them.
  TableOptions initialiser = good();
  initialiser.keys = 100;
  initialiser.initialiser =
      Initialiser::function<float>([fails = on_last_rank(server)](Key, std::span<float>) {
        if (fails) throw std::runtime_error("no value");
      });
  const auto create = [&] { server.create_table<float>(initialiser); };
  const std::string text =
      on_last_rank(server) ? thrown_text<UserCodeFailed>(create) : thrown_text<PeerFailed>(create);
  INFO(text);
  CHECK(contains(text, "code of the application failed for key "));
  CHECK(contains(text, " of table 'factors' on rank " + last + ": no value"));
  check_usable(server);

  TableOptions lengths = good();
  lengths.lengths = [](Key key) {
    return key == Key(7) ? throw std::runtime_error("no length") : std::size_t{3};
  };
  fails_on_last(lengths, "code of the application failed for key 7", "no length");
  lengths.lengths = [](Key key) { return key == Key(7) ? std::size_t{0} : std::size_t{3}; };
  check_fails_on_last<ConfigurationError>(
      server, lengths,
      "table 'factors' on rank " + last + ": the function of value lengths gives 0 elements for key 7");

  TableOptions home = good();
  home.home = HomeMapKind::custom;
  home.home_function = [](Key key) { return key == Key(8) ? throw std::runtime_error("no home") : 0; };
  fails_on_last(home, "code of the application failed for key 8", "no home");

  // All ranks fail: each throws its own exception.
  CHECK_THROWS_AS(server.create_table<float>(home), UserCodeFailed);
  check_usable(server);
}

TEST_CASE("Something thrown that is no exception reaches every rank, too") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options = good();
  const bool last = on_last_rank(server);
  options.initialiser = Initialiser::function<float>([last](Key, std::span<float>) {
    if (last) throw 42;
  });
  // The last key's home decides which rank computes it: all ranks fill the same keys.
  options.keys = 100;
  if (last) {
    CHECK(contains(
        thrown_text<UserCodeFailed>([&] { server.create_table<float>(options); }),
        "of table 'factors' on rank " + std::to_string(server.rank().value()) + ": unknown exception"));
  } else {
    CHECK_THROWS_AS(server.create_table<float>(options), PeerFailed);
  }
  check_usable(server);
}

TEST_CASE("A table for which there is no memory is OutOfMemory, with its name and size") {
  ParameterServer server(MPI_COMM_WORLD);
  const TableOptions huge{.name = "huge", .keys = std::uint64_t{1} << 38};
  const std::string text = thrown_text<OutOfMemory>([&] { server.create_table<float>(huge); });
  CHECK(contains(text, "'huge'"));
  CHECK(contains(text, " leaves "));
  check_usable(server);
}

TEST_CASE("A table for which one rank alone has no memory is PeerFailed on the others") {
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  const std::int32_t last = server.ranks() - 1;
  TableOptions heavy{.name = "heavy", .keys = 1000, .length = std::size_t{1} << 28};
  heavy.home = HomeMapKind::custom;
  heavy.home_function = [last](Key) { return last; };
  const auto create = [&] { server.create_table<float>(heavy); };
  const std::string text =
      on_last_rank(server) ? thrown_text<OutOfMemory>(create) : thrown_text<PeerFailed>(create);
  CHECK(contains(text, "'heavy'"));
  CHECK(contains(text, "on rank " + std::to_string(last)));
  check_usable(server);
}

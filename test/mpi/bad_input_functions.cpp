// Functions that are registered or called incorrectly.
#include <mpi.h>

#include <functional>

#include "lapse/core/error.hpp"
#include "lapse/ps/function.hpp"
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

constexpr auto kNothing = [](Key, std::span<float>) {};
constexpr auto kTakesInt = [](Key, std::span<float>, int) {};
constexpr auto kTakesDouble = [](Key, std::span<float>, double) {};
constexpr auto kGivesInt = [](Key, std::span<float>) { return 1; };

void check_usable(ParameterServer& server) {
  const auto table = server.create_table<float>({.keys = 10});
  const auto raise =
      server.register_function<float>("usable", [](Key, std::span<float> value) { ++value[0]; });
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(1), Key(2), Key(3)};
    worker.call(table, raise, keys);
    worker.barrier();
    std::vector<float> values(3);
    worker.pull(table, keys, values).wait();
    expect(values == std::vector<float>(3, static_cast<float>(worker.count())), "every call");
  });
}

}  // namespace

TEST_CASE("A function that the ranks register differently is a mismatch on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;  // There is no other rank to differ from.
  const bool last = on_last_rank(server);
  const auto differ = [&](const std::function<void()>& first, const std::function<void()>& second) {
    return thrown_text<CollectiveMismatch>(last ? second : first);
  };
  const auto plain = [&] { server.register_function<float>("f", kNothing); };
  std::string text = differ(plain, [&] { server.register_function<float>("g", kNothing); });
  CHECK((contains(text, "'f'") && contains(text, "'g'")));
  text = differ(plain, [&] { server.register_function<float, int>("f", kTakesInt); });
  CHECK((contains(text, "0 bytes of argument") && contains(text, "4 bytes of argument")));
  text = differ([&] { server.register_function<float, double>("f", kTakesDouble); },
                [&] { server.register_function<float, int>("f", kTakesInt); });
  CHECK(contains(text, "8 bytes of argument"));
  text = differ(plain, [&] { server.register_function<float, Nothing, int>("f", kGivesInt); });
  CHECK(contains(text, "4 of result"));
  text = differ(plain, [&] { server.register_function<double>("f", [](Key, std::span<double>) {}); });
  CHECK((contains(text, "float") && contains(text, "double")));
  // Registered on one rank only, while the other ranks make a different call.
  text = differ(plain, [&] { server.create_table<float>({.keys = 3}); });
  CHECK((contains(text, "register_function") && contains(text, "create_table")));
  text = differ([&] { server.run_workers(1, [](Worker&) {}); }, plain);
  CHECK((contains(text, "register_function") && contains(text, "run_workers")));
  plain();
  check_usable(server);
}

TEST_CASE("Names that are taken or empty are refused; the functions there are go on") {
  ParameterServer server(MPI_COMM_WORLD);
  server.register_function<float>("f", kNothing);
  CHECK(contains(thrown_text<ConfigurationError>([&] { server.register_function<float>("f", kNothing); }),
                 "'f'"));
  CHECK(contains(
      thrown_text<ConfigurationError>([&] { server.register_function<float, int>("f", kTakesInt); }), "'f'"));
  CHECK(contains(thrown_text<ConfigurationError>([&] { server.register_function<float>("", kNothing); }),
                 "name"));
  check_usable(server);
}

TEST_CASE("A name that one rank alone leaves empty is PeerFailed on the others") {
  ParameterServer server(MPI_COMM_WORLD);
  const bool last = on_last_rank(server);
  const auto add = [&] { server.register_function<float>(last ? "" : "f", kNothing); };
  CHECK(contains(last ? thrown_text<ConfigurationError>(add) : thrown_text<PeerFailed>(add), "name"));
  check_usable(server);
}

TEST_CASE("Functions cannot be registered while workers run, nor after close") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto add = [&] { server.register_function<float>("f", kNothing); };
  server.run_workers(1, [&](Worker& worker) {
    expect(contains(thrown_text<UsageError>(add), "while workers run"), "the reason");
    worker.barrier();
  });
  check_usable(server);
  server.close();
  CHECK_THROWS_AS(add(), ClosedError);
}

TEST_CASE("Calls with wrong keys, numbers of arguments or results, or things of another server are refused") {
  ParameterServer server(MPI_COMM_WORLD);
  ParameterServer other(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "values", .keys = 10});
  const auto strange_table = other.create_table<float>({.keys = 10});
  const auto raise =
      server.register_function<float>("raise", [](Key, std::span<float> value) { ++value[0]; });
  const auto add = server.register_function<float, float, float>(
      "add", [](Key, std::span<float> value, float by) { return value[0] += by; });
  const auto strange = other.register_function<float>("raise", kNothing);
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(0), Key(9)};
    const std::vector<Key> wrong{Key(0), Key(10)};
    const std::vector<float> arguments(2, 1);
    std::vector<float> results(2, -1);
    const auto one = std::span(results).first(1);
    expect(contains(thrown_text<KeyOutOfRange>([&] { worker.call(table, raise, wrong); }), "key 10"), "key");
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { worker.call(table, add, keys, {}, results); },
             [&] { worker.call(table, add, keys, std::span(arguments).first(1), results); },
             [&] { worker.call(table, add, keys, arguments); },
             [&] { worker.call(table, add, keys, arguments, one); },
             [&] { worker.call(table, raise, keys, std::vector<Nothing>(1)); },
         }) {
      expect(contains(thrown_text<LengthMismatch>(call), "'values'"), "the table");
    }
    const auto foreign_function = [&] { worker.call(table, strange, keys); };
    expect(contains(thrown_text<UsageError>(foreign_function), "function of another server"), "the function");
    const auto foreign_table = [&] { worker.call(strange_table, raise, keys); };
    expect(contains(thrown_text<UsageError>(foreign_table), "table of another server"), "the table");
    worker.barrier();
    std::vector<float> values(2);
    worker.pull(table, keys, values).wait();
    expect(values == std::vector<float>(2) && results == std::vector<float>(2, -1), "nothing has run");
  });
}

// Keys of sparse tables that cannot be made: the requester gets the error, and the server continues.
#include <mpi.h>

#include <functional>

#include "lapse/core/error.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 40;

bool is_bad(Key key) {
  return key.value() % 10 == 3;
}

// Each ten successive keys have one rank as home; one of the ten is bad.
TableOptions spread(const ParameterServer& server) {
  TableOptions options{.name = "refusing", .sparse = true, .home = HomeMapKind::custom};
  options.home_function = [ranks = static_cast<std::uint64_t>(server.ranks())](Key key) {
    return static_cast<std::int32_t>(key.value() / 10 % ranks);
  };
  return options;
}

TableOptions throwing(const ParameterServer& server) {
  TableOptions options = spread(server);
  options.initialiser = Initialiser::function<std::int64_t>([](Key key, std::span<std::int64_t> value) {
    if (is_bad(key)) throw std::runtime_error("no " + std::to_string(key.value()));
    value[0] = 0;
  });
  return options;
}

std::string place(Key key, std::int32_t rank) {
  return "key " + std::to_string(key.value()) + " of table 'refusing' on rank " + std::to_string(rank);
}

// The message of the exception of `call`, thrown by wait.
template <class Failure, class Call>
void expect_failure(Call&& call, const std::vector<std::string>& parts) {
  const std::string text = thrown_text<Failure>([&] { call().wait(); });
  for (const std::string& part : parts) expect(contains(text, part), part + " in: " + text);
}

}  // namespace

TEST_CASE("A localize or a lease of a key whose initial value throws at its home fails alone") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(throwing(server));
  const auto add =
      server.register_function<std::int64_t>("add", [](Key, std::span<std::int64_t> value) { ++value[0]; });
  server.run_workers(2, [&](Worker& worker) {
    const std::int64_t one = 1;
    std::int64_t value = 0;
    const auto ranks = static_cast<std::uint64_t>(worker.ranks());
    for (int round = 0; round < 5; ++round) {
      for (std::uint64_t number = 3; number < kKeys; number += 10) {
        const Key bad(number);
        const auto home = static_cast<std::int32_t>(number / 10 % ranks);
        const std::vector<std::string> parts{place(bad, home), "no " + std::to_string(number)};
        const std::vector<Key> keys{bad};
        // No key has to move at the home itself.
        if (worker.rank().value() == home) {
          worker.localize(table, bad).wait();
        } else {
          expect_failure<UserCodeFailed>([&] { return worker.localize(table, bad); }, parts);
        }
        expect_failure<UserCodeFailed>([&] { return worker.push(table, bad, std::span(&one, 1)); }, parts);
        expect_failure<UserCodeFailed>([&] { return worker.set(table, bad, std::span(&one, 1)); }, parts);
        expect_failure<UserCodeFailed>([&] { return worker.pull(table, bad, std::span(&value, 1)); }, parts);
        expect_failure<UserCodeFailed>([&] { return worker.call(table, add, keys); }, parts);
        // Queued while the key is being requested, and then sent to the home.
        const Operation localize = worker.localize(table, bad);
        expect_failure<UserCodeFailed>([&] { return worker.push(table, bad, std::span(&one, 1)); }, parts);
        expect_failure<UserCodeFailed>([&] { return worker.pull(table, bad, std::span(&value, 1)); }, parts);
        const std::vector<Key> some{Key(number - 1), bad, Key(number + 1)};
        const std::string text =
            thrown_text<UserCodeFailed>([&] { static_cast<void>(worker.lease(table, some)); });
        expect(contains(text, place(bad, home)), text);
        // No lease is held: the other keys can be leased, also by the other workers.
        const std::vector<Key> good{Key(number - 1), Key(number + 1)};
        const Lease lease = worker.lease(table, good);
        ++lease.values(table)[0][0];
      }
      try {
        worker.wait_all();
      } catch (const UserCodeFailed&) {
        // thrown by the localizes without a handle
      }
    }
    worker.barrier();
    for (std::uint64_t number = 2; number < kKeys; number += 10) {
      worker.pull(table, Key(number), std::span(&value, 1)).wait();
      expect(value == 5 * static_cast<std::int64_t>(worker.count()), "every lease has counted once");
    }
    worker.barrier();
  });
  server.close();
}

TEST_CASE("A localize of many keys brings those that can be made") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;  // Every key is local.
  const auto table = server.create_table<std::int64_t>(throwing(server));
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    for (std::size_t turn = 0; turn < worker.count(); ++turn) {
      if (turn == worker.index()) {
        expect_failure<UserCodeFailed>([&] { return worker.localize(table, keys); }, {"'refusing'", "no "});
        std::int64_t value = 0;
        for (const Key key : keys)
          expect(is_bad(key) || worker.pull_if_local(table, key, std::span(&value, 1)),
                 "a good key is local");
        // wait_all throws the error of an operation without a handle, once.
        worker.localize(table, keys);
        thrown_text<UserCodeFailed>([&] { worker.wait_all(); });
        worker.wait_all();
      }
      worker.barrier();
    }
  });
  server.close();
}

TEST_CASE("A home without room for a key refuses it to the requester alone") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t home = server.ranks() - 1;
  constexpr std::uint64_t kRoom = 10;
  TableOptions options{.name = "refusing", .sparse = true, .max_keys = kRoom, .home = HomeMapKind::custom};
  options.home_function = [home](Key) { return home; };
  options.initialiser = Initialiser::constant(7);
  const auto table = server.create_table<std::int64_t>(options);
  const auto add =
      server.register_function<std::int64_t>("add", [](Key, std::span<std::int64_t> value) { ++value[0]; });
  server.run_workers(2, [&](Worker& worker) {
    const std::vector<std::int64_t> ones(kRoom, 1);
    const auto room = key_range(0, kRoom);
    worker.push(table, room, ones).wait();
    worker.barrier();
    std::int64_t value = 0;
    for (std::uint64_t number = 100; number < 103; ++number) {
      const Key key(number);
      const std::vector<Key> keys{key};
      const std::vector<std::string> parts{place(key, home), "all 10 slots"};
      expect_failure<OutOfMemory>([&] { return worker.push(table, key, std::span(ones).first(1)); }, parts);
      expect_failure<OutOfMemory>([&] { return worker.set(table, key, std::span(ones).first(1)); }, parts);
      expect_failure<OutOfMemory>([&] { return worker.call(table, add, keys); }, parts);
      if (worker.rank().value() != home) {
        expect_failure<OutOfMemory>([&] { return worker.localize(table, key); }, parts);
      }
      const std::string text =
          thrown_text<OutOfMemory>([&] { static_cast<void>(worker.lease(table, keys)); });
      expect(contains(text, place(key, home)), text);
      worker.pull(table, key, std::span(&value, 1)).wait();
      expect(value == 7, "the initial value");
    }
    // In a call that includes keys that exist, these are pushed to.
    std::vector<Key> mixed = room;
    mixed.push_back(Key(100));
    expect_failure<OutOfMemory>(
        [&] { return worker.push(table, mixed, std::vector<std::int64_t>(mixed.size(), 1)); },
        {place(Key(100), home)});
    worker.barrier();
    std::vector<std::int64_t> values(kRoom);
    worker.pull(table, room, values).wait();
    const auto count = static_cast<std::int64_t>(worker.count());
    expect(values == std::vector<std::int64_t>(kRoom, 7 + 2 * count), "the sum of the pushes");
    worker.barrier();
  });
  server.close();
}

TEST_CASE("A rank without room for a key is refused it before anything is sent") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;  // Every key is at its home.
  constexpr std::uint64_t kRoom = 10;
  TableOptions options = spread(server);
  options.name = "refusing";
  // Rank 0 can store only few of rank 1's keys beside its own.
  constexpr std::uint64_t kFirstOfRank0 = 1000;
  options.max_keys = 4 * kRoom;
  options.home_function = [](Key key) { return key.value() < kFirstOfRank0 ? 1 : 0; };
  const auto table = server.create_table<std::int64_t>(options);
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, 3 * kRoom);
    if (worker.rank() == Rank(0)) {
      const std::vector<std::int64_t> ones(3 * kRoom, 1);
      worker.push(table, key_range(kFirstOfRank0, kFirstOfRank0 + 3 * kRoom), ones).wait();
      worker.localize(table, std::span(keys).first(kRoom)).wait();
      for (std::uint64_t number = kRoom; number < 3 * kRoom; ++number) {
        const Key key(number);
        const std::vector<Key> some{key};
        expect_failure<OutOfMemory>([&] { return worker.localize(table, key); },
                                    {place(key, 0), "all 40 slots"});
        const std::string text =
            thrown_text<OutOfMemory>([&] { static_cast<void>(worker.lease(table, some)); });
        expect(contains(text, place(key, 0)), text);
        worker.push(table, key, std::vector<std::int64_t>{1}).wait();
      }
    }
    worker.barrier();
    std::vector<std::int64_t> values(keys.size());
    worker.pull(table, keys, values).wait();
    for (std::size_t i = 0; i < values.size(); ++i) expect(values[i] == (i < kRoom ? 0 : 1), "sum of pushes");
    worker.barrier();
  });
  server.close();
}

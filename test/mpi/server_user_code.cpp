// Code of the application that the server runs, and that throws or calls the server.
#include <mpi.h>

#include <atomic>
#include <functional>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 30;

bool is_bad(Key key) {
  return key.value() % 10 == 3;
}
void refuse_bad(Key key) {
  if (is_bad(key)) throw std::runtime_error("no " + std::to_string(key.value()));
}

// Adds. Throws for negative updates, after writing.
struct OnlyPositive {
  std::string name() const { return "only positive"; }
  std::size_t state_elements(std::size_t) const { return 0; }
  void initialise(std::span<const double>, std::span<double>) const {}
  void apply(std::span<double> value, std::span<double>, std::span<const double> update, float) const {
    value[0] += update[0];
    if (update[0] < 0) throw std::invalid_argument("below 0");
  }
};

// Makes the call, waits for it and for all other operations. Returns true if UserCodeFailed was thrown: by
// the call, by wait, or by wait_all.
bool fails(Worker& worker, const std::function<Operation()>& call, std::string_view text) {
  int failures = 0;
  const auto attempt = [&](const auto& f) {
    try {
      f();
    } catch (const UserCodeFailed& error) {
      ++failures;
      expect(contains(error.text(), text), "the text in: " + error.text());
    }
  };
  attempt([&] { call().wait(); });
  attempt([&] { worker.wait_all(); });
  return failures > 0;
}

// The home of key k, 0 <= k < kKeys, is rank k % ranks.
TableOptions spread(ParameterServer& server, bool sparse) {
  const auto ranks = static_cast<std::uint64_t>(server.ranks());
  TableOptions options{.sparse = sparse, .home = HomeMapKind::custom};
  if (!sparse) options.keys = kKeys;
  options.home_function = [ranks](Key key) { return static_cast<std::int32_t>(key.value() % ranks); };
  return options;
}

// The worker that runs on this thread; null on the thread that drives communication.
thread_local Worker* this_worker = nullptr;

}  // namespace

TEST_CASE("A function that throws: at once for local keys, in wait for others; the rest is done") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const DomainMap domains = lapse::test::domains_of_world();
    const auto table = server.create_table<std::int64_t>(spread(server, sparse));
    const auto count = server.register_function<std::int64_t, Nothing, std::int64_t>(
        "count", [](Key key, std::span<std::int64_t> value) {
          ++value[0];
          refuse_bad(key);
          return value[0];
        });
    server.run_workers(1, [&](Worker& worker) {
      for (std::uint64_t key = 3; key < kKeys; key += 10) {
        const Rank home(static_cast<std::int32_t>(key) % worker.ranks());
        const bool here = lapse::test::share_memory(domains, home, worker.rank());
        const std::vector<Key> keys{Key(key)};
        std::vector<std::int64_t> result(1, -1);
        bool begun = false;
        const auto call = [&] {
          Operation operation = worker.call(table, count, keys, {}, result);
          begun = true;
          operation.wait();
        };
        const std::string text = thrown_text<UserCodeFailed>(call);
        expect(contains(text, "no " + std::to_string(key)), "the text in: " + text);
        // A sparse key becomes local only after a call has made it.
        if (!sparse) expect(begun != here, "at once for a local key, in wait for others");
        expect(result[0] == -1, "no result");
      }
      worker.barrier();
      std::vector<std::int64_t> value(1);
      worker.pull(table, Key(3), value).wait();
      expect(value[0] == static_cast<std::int64_t>(worker.count()), "what the function wrote stays");
      worker.barrier();

      // All keys in one call: the other keys are updated.
      std::vector<std::int64_t> results(kKeys, -1);
      const auto keys = key_range(0, kKeys);
      expect(fails(
                 worker, [&] { return worker.call(table, count, keys, {}, results); }, "no "),
             "failure");
      worker.barrier();
      std::vector<std::int64_t> values(kKeys);
      worker.pull(table, keys, values).wait();
      const auto workers = static_cast<std::int64_t>(worker.count());
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        expect(values[key] == (is_bad(Key(key)) ? 2 : 1) * workers, "every key was called");
      }
    });
    // The server is unaffected.
    server.run_workers(1, [&](Worker& worker) {
      worker.push(table, Key(3), std::vector<std::int64_t>{1});
      worker.localize(table, Key(3)).wait();
      worker.barrier();
    });
  }
}

TEST_CASE("The failure of a call whose handle was dropped comes with wait_all or the next barrier, once") {
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() == 1) return;  // On one rank everything fails at once.
  const auto table = server.create_table<double>(spread(server, false));
  const auto refuse =
      server.register_function<double>("refuse", [](Key key, std::span<double>) { refuse_bad(key); });
  server.run_workers(2, [&](Worker& worker) {
    const std::vector<Key> bad{Key(3), Key(13), Key(23)};
    std::vector<Key> remote;
    for (const Key key : bad) {
      if (key.value() % static_cast<std::uint64_t>(worker.ranks()) !=
          static_cast<std::uint64_t>(worker.rank().value()))
        remote.push_back(key);
    }
    for (const bool with_barrier : {false, true}) {
      if (!remote.empty()) {
        worker.call(table, refuse, remote);
        const auto wait = [&] { with_barrier ? worker.barrier() : worker.wait_all(); };
        expect(contains(thrown_text<UserCodeFailed>(wait), "no "), "the text");
      }
      worker.wait_all();
      worker.barrier();
    }
  });
}

TEST_CASE("A failure that no worker asks for ends the phase on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;  // On one rank everything fails at once.
  const auto table = server.create_table<double>(spread(server, false));
  const auto refuse =
      server.register_function<double>("refuse", [](Key key, std::span<double>) { refuse_bad(key); });
  const std::string text = thrown_text<PeerFailed>([&] {
    server.run_workers(1, [&](Worker& worker) {
      // The home of key 13 is rank 1 of 2, 3 and 4.
      const std::vector<Key> bad{Key(13)};
      if (worker.rank() == Rank(0)) worker.call(table, refuse, bad);
    });
  });
  CHECK(contains(text, "no 13"));
  server.close();
}

TEST_CASE("A rule of the application that throws reaches who pushed; what it wrote stays") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    TableOptions options = spread(server, sparse);
    options.update_rule = UpdateRule::custom<double>(OnlyPositive{});
    const auto table = server.create_table<double>(options);
    server.run_workers(2, [&](Worker& worker) {
      const auto keys = key_range(0, kKeys);
      const std::vector<double> good(kKeys, 5);
      std::vector<double> mixed(kKeys, 1);
      for (std::uint64_t key = 0; key < kKeys; ++key) mixed[key] = is_bad(Key(key)) ? -1 : 1;
      for (int round = 0; round < 20; ++round) {
        worker.push(table, keys, good);
        worker.localize(table, Key((static_cast<std::uint64_t>(round) + worker.index()) % kKeys));
        expect(fails(
                   worker, [&] { return worker.push(table, keys, mixed); }, "below 0"),
               "many keys");
        expect(fails(
                   worker, [&] { return worker.push(table, Key(3), std::vector<double>{-1}); }, "below 0"),
               "one key");
      }
      worker.barrier();
      std::vector<double> values(kKeys);
      worker.pull(table, keys, values).wait();
      const auto pushes = 20 * static_cast<double>(worker.count());
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        expect(values[key] == pushes * (key == 3 ? 3 : (is_bad(Key(key)) ? 4 : 6)), "sum of all pushes");
      }
      worker.barrier();
      const std::vector<Key> own{Key(worker.index())};
      {
        const Lease lease = worker.lease(table, own);
        const auto apply = [&] { lease.values(table).apply(0, std::vector<double>{-1}); };
        expect(thrown_text<std::invalid_argument>(apply) == "below 0", "its own exception under a lease");
      }
      worker.barrier();
    });
  }
}

TEST_CASE("An initialiser that throws for some keys of a sparse table reaches who accessed them") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options = spread(server, true);
  options.initialiser = Initialiser::function<double>([](Key key, std::span<double> value) {
    refuse_bad(key);
    value[0] = 7;
  });
  const auto table = server.create_table<double>(options);
  const auto touch = server.register_function<double>("touch", [](Key, std::span<double>) {});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    std::vector<double> values(kKeys, -1);
    std::vector<double> one(1, 1);
    const std::vector<Key> bad{Key(13)};
    expect(fails(
               worker, [&] { return worker.pull(table, keys, values); }, "no "),
           "pull of many keys");
    for (std::uint64_t key = 3; key < kKeys; key += 10) {
      expect(fails(
                 worker, [&] { return worker.pull(table, Key(key), one); }, "no "),
             "pull of one key");
      expect(fails(
                 worker, [&] { return worker.push(table, Key(key), one); }, "no "),
             "push");
      expect(fails(
                 worker, [&] { return worker.set(table, Key(key), one); }, "no "),
             "set");
    }
    expect(fails(
               worker, [&] { return worker.call(table, touch, bad); }, "no "),
           "call");
    expect(fails(
               worker, [&] { return worker.push(table, keys, std::vector<double>(kKeys, 1)); }, "no "),
           "push of many keys");
    worker.barrier();
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      if (is_bad(Key(key))) continue;
      worker.pull(table, Key(key), one).wait();
      expect(one[0] == 7 + static_cast<double>(worker.count()), "the other keys were pushed to");
    }
    worker.barrier();
  });
}

TEST_CASE("pull_if_local reports an initialiser that throws") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options = spread(server, true);
  options.initialiser = Initialiser::function<double>([](Key key, std::span<double> value) {
    refuse_bad(key);
    value[0] = 7;
  });
  const auto table = server.create_table<double>(options);
  server.run_workers(1, [&](Worker& worker) {
    std::vector<double> one(1);
    const auto pull = [&] { worker.pull_if_local(table, Key(13), one); };
    if (13 % worker.ranks() == worker.rank().value()) {
      expect(contains(thrown_text<UserCodeFailed>(pull), "no 13"), "the text");
    } else {
      expect(!worker.pull_if_local(table, Key(13), one), "not here");
    }
    worker.barrier();
  });
}

TEST_CASE("Code that the server runs cannot call it, on whatever thread it runs") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  std::atomic<int> refused{0};
  const auto call_server = [&] {
    try {
      std::int64_t value = 0;
      if (this_worker == nullptr) {
        server.statistics();
      } else {
        this_worker->push(table, Key(0), std::span(&value, 1));
      }
    } catch (const UsageError&) {
      refused.fetch_add(1);
      throw;
    }
  };
  const auto reenter =
      server.register_function<std::int64_t>("reenter", [&](Key, std::span<std::int64_t> value) {
        ++value[0];
        call_server();
      });
  struct Reentering {
    std::function<void()> call;
    std::string name() const { return "reentering"; }
    std::size_t state_elements(std::size_t) const { return 0; }
    void initialise(std::span<const double>, std::span<double>) const {}
    void apply(std::span<double>, std::span<double>, std::span<const double>, float) const { call(); }
  };
  const auto ruled = server.create_table<double>(
      {.keys = kKeys, .update_rule = UpdateRule::custom<double>(Reentering{call_server})});
  server.run_workers(2, [&](Worker& worker) {
    this_worker = &worker;
    const auto keys = key_range(0, kKeys);
    for (int round = 0; round < 20; ++round) {
      for (const Key key : keys) {
        expect(fails(
                   worker, [&] { return worker.call(table, reenter, std::span(&key, 1)); }, ""),
               "a function that calls the server");
      }
      expect(fails(
                 worker, [&] { return worker.push(ruled, keys, std::vector<double>(kKeys, 1)); }, ""),
             "a rule that calls the server");
      worker.localize(table, keys);
      worker.localize(ruled, keys);
    }
    worker.barrier();
    std::vector<std::int64_t> values(kKeys);
    worker.pull(table, keys, values).wait();
    expect(values == std::vector<std::int64_t>(kKeys, 20 * static_cast<std::int64_t>(worker.count())),
           "every call has run");
    this_worker = nullptr;
  });
  // Every call that ran on any rank was refused.
  int all = refused;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == 2 * 20 * 2 * server.ranks() * static_cast<int>(kKeys));
}

TEST_CASE("A call that fails for local and remote keys fails once, in wait") {
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() == 1) return;  // Every key is local.
  const auto table = server.create_table<std::int64_t>(spread(server, false));
  const auto fail = server.register_function<std::int64_t>("fail", [](Key key, std::span<std::int64_t>) {
    throw std::runtime_error("no " + std::to_string(key.value()));
  });
  server.run_workers(1, [&](Worker& worker) {
    Operation operation = worker.call(table, fail, key_range(0, kKeys));
    thrown_text<UserCodeFailed>([&] { operation.wait(); });
    worker.wait_all();
  });
  server.close();
}

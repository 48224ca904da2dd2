#include "lapse/ps/stalls/stall_text.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "lapse/ps/stalls/peers.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// Ranks 0 to 3 in two domains, seen from rank 0.
struct Shared {
  DomainMap domains = DomainMap::of_hosts(std::vector<std::int32_t>{0, 0, 1, 1});
  PrivateRegionAllocator regions;
  std::unique_ptr<TableShard> table =
      test::build_table_shard({}, domains, Rank(0), HomeMap::hash(100, 2, Domain(0)), false, 100,
                              ValueSizes(ValueLayout{ElementType::float32, 4, 0}), regions);

  AwaitedKey key(std::uint64_t number) const {
    return {.table = table.get(),
            .key = Key(number),
            .kind = OperationKind::push,
            .home = Rank(1),
            .owner = std::nullopt,
            .owner_rank = Rank(1),
            .at_owner = std::nullopt};
  }
  AwaitedKey at(Domain owner, std::optional<KeyStanding> standing) const {
    AwaitedKey awaited = key(7);
    awaited.owner = owner;
    awaited.owner_rank = Rank(owner.value() == 0 ? 1 : 3);
    awaited.at_owner = standing;
    return awaited;
  }
};

constexpr std::string_view kDocsPage = "\n  what this means, and what to look at: docs/stalls.md";
constexpr std::string_view kStopped = ": stopped by a signal or a debugger, and continues after kill -CONT";

std::string text_of(const StallQuestion& answers, std::vector<SeenRank> ranks = {}) {
  return stall_text({.worker = 9,
                     .rank = Rank(2),
                     .waited = milliseconds(61'900),
                     .what = "an answer",
                     .operations = 2,
                     .keys = 668,
                     .answers = &answers,
                     .ranks = std::move(ranks)});
}

}  // namespace

TEST_CASE("A report of a worker names its keys, who owns them, and what is queued there") {
  const std::string head =
      "worker 9 on rank 2 has waited for 61 s for an answer: 2 operations with 668 keys are unanswered";
  Shared shared;
  const auto line = [&](const AwaitedKey& key) {
    StallQuestion answers;
    answers.keys = {key};
    const std::string text = text_of(answers);
    REQUIRE(text.substr(0, head.size()) == head);
    REQUIRE(text.ends_with(kDocsPage));
    return text.substr(head.size(), text.size() - head.size() - kDocsPage.size());
  };
  const std::string key = "\n  push of key 7 of table 'table': ";
  CHECK(line(shared.key(7)) == key + "its home, rank 1, does not answer, so its owner is not known");
  CHECK(line(shared.at(Domain(1), {})) == key + "owned by domain 1, served by rank 3, which does not answer");
  CHECK(line(shared.at(Domain(1), KeyStanding{.role = Role::owner})) ==
        key + "owned by domain 1, served by rank 3");
  CHECK(line(shared.at(Domain(1), KeyStanding{.role = Role::arriving,
                                              .instructed = true,
                                              .operations = 3,
                                              .requests = 1,
                                              .milliseconds = 61'250})) ==
        key +
            "on its way to domain 1, served by rank 3; queued there: 3 operations, 1 lease request, the "
            "order to "
            "transfer it, for 61.2 s");
  CHECK(line(shared.at(
            Domain(0),
            KeyStanding{.role = Role::owner, .leased = true, .operations = 1, .milliseconds = 100})) ==
        key + "leased by a worker of domain 0, served by rank 1; queued there: 1 operation, for 0.1 s");
  CHECK(line(shared.at(Domain(1), KeyStanding{.role = Role::absent})) ==
        key + "on its way from domain 1, served by rank 3");
  AwaitedKey lease = shared.key(8);
  lease.kind.reset();
  CHECK(line(lease).find("\n  lease of key 8 of") == 0);
}

TEST_CASE("A report counts what it does not name, and ends with the ranks that do not answer or do not run") {
  Shared shared;
  StallQuestion answers;
  answers.keys = {shared.key(1)};
  answers.further_keys = 667;
  const std::string text = text_of(answers, {{"rank 1, process 11 on a", ProcessState::stopped, true},
                                             {"rank 3, process 13 on b", ProcessState::unknown, true},
                                             {"rank 4, process 14 on a", ProcessState::ended, false},
                                             {"rank 5, process 15 on a", ProcessState::runs, true}});
  CHECK(text.ends_with(fmt::format(
      "\n  and 667 further keys\n  rank 1, process 11 on a, does not answer{}\n"
      "  rank 3, process 13 on b, does not answer: is on another host or in another container, where "
      "this rank cannot see whether it is stopped\n"
      "  rank 4, process 14 on a: ended: the process is gone, and its last lines or its exit status say "
      "why\n"
      "  rank 5, process 15 on a, does not answer: runs, and its engine does not: code of the "
      "application that the engine calls holds it up, or it has no processor{}",
      kStopped, kDocsPage)));
}

TEST_CASE("A report at a barrier names the workers that have not arrived, and what they do") {
  StallQuestion answers;
  answers.absent = {{Rank(0), 1, WorkerActivity::application},
                    {Rank(1), 5, WorkerActivity::operations},
                    {Rank(1), 6, WorkerActivity::returned},
                    {Rank(1), 7, WorkerActivity::detached}};
  answers.further_absent = 4;
  const std::string text = stall_text({.worker = 0,
                                       .rank = Rank(0),
                                       .waited = seconds(60),
                                       .what = "the other workers at a barrier",
                                       .answers = &answers});
  CHECK(
      text ==
      fmt::format(
          "worker 0 on rank 0 has waited for 60 s for the other workers at a barrier\n"
          "  worker 1 on rank 0 has not arrived: it runs code of the application, and has not made this "
          "call\n"
          "  worker 5 on rank 1 has not arrived: it waits for answers to a pull, a push or another operation "
          "of its "
          "own\n"
          "  worker 6 on rank 1 has not arrived: it has returned from its function\n"
          "  worker 7 on rank 1 has not arrived: no thread of the application is attached in its place\n"
          "  and 4 further workers{}",
          kDocsPage));
  answers.absent.assign(100, {Rank(0), 1, WorkerActivity::application});
  CHECK(text_of(answers).find("\n  and 96 further workers") != std::string::npos);
}

TEST_CASE("A report without answers blames the engine of its own rank") {
  const std::string text = stall_text(
      {.worker = 0, .rank = Rank(3), .waited = seconds(60), .what = "an answer", .operations = 1, .keys = 1});
  CHECK(text.find("1 operation with 1 key is unanswered\n  no thread of rank 3 has driven its engine") !=
        std::string::npos);
}

TEST_CASE("Reports of whole ranks name the call or the key, and the ranks that are missing or halted") {
  const std::vector<SeenRank> ranks{{"rank 1, process 11 on a", ProcessState::stopped, false}};
  CHECK(call_stall_text(Rank(0), seconds(2), "create_table", ranks) ==
        fmt::format(
            "rank 0 has waited for 2 s in create_table; has not arrived:\n  rank 1, process 11 on a{}{}",
            kStopped, kDocsPage));
  const std::vector<SeenRank> running{{"rank 1, process 11 on a", ProcessState::runs, false}};
  CHECK(
      call_stall_text(Rank(0), seconds(2), "create_table", running) ==
      fmt::format(
          "rank 0 has waited for 2 s in create_table; has not arrived:\n  rank 1, process 11 on a: runs, and "
          "has not made this call: it computes or waits before it, or has taken another way through the "
          "program{}",
          kDocsPage));
  CHECK(
      latch_stall_text(Rank(0), seconds(2), Key(5), "t", ranks) ==
      fmt::format("a thread of rank 0 has waited for 2 s for the latch of key 5 of table 't'; not running:\n"
                  "  rank 1, process 11 on a{}{}",
                  kStopped, kDocsPage));
  CHECK(latch_stall_text(Rank(0), seconds(2), Key(5), "t", {}).find("every rank that shares it runs") !=
        std::string::npos);
  CHECK(halted_stall_text(Rank(0), seconds(2), "in close", ranks) ==
        fmt::format("rank 0 has waited for 2 s in close for the other ranks:\n  rank 1, process 11 on a{}{}",
                    kStopped, kDocsPage));
}

TEST_CASE("Of a rank on another host nothing is known, and a rank that is not known has no process") {
  ProcessIdentity ended = ProcessIdentity::own();
  ++ended.start;  // a process with this number that started at another time
  const Peers peers(Rank(0), {{"a", ProcessIdentity::own()}, {"a", ended}, {"b", ended}}, {0, 0, 2});
  CHECK(peers.state(Rank(0)) == ProcessState::runs);
  CHECK(peers.state(Rank(1)) == ProcessState::ended);
  CHECK(peers.state(Rank(2)) == ProcessState::unknown);
  CHECK(peers.halted() == std::vector<Rank>{Rank(1)});
  CHECK(peers.name(Rank(2)) == "rank 2, process " + std::to_string(ended.number) + " on b");
  CHECK(Peers().name(Rank(2)) == "rank 2");
  CHECK(Peers().state(Rank(0)) == ProcessState::unknown);  // not met yet
  CHECK(Peers().halted().empty());
}

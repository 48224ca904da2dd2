// Why a worker waits for replicated keys: the answers of ranks about keys and about syncs.
#include <memory>
#include <vector>

#include "lapse/protocol/stalls/unsynced.hpp"
#include "lapse/protocol/worker/stall_question.hpp"
#include "lapse/ps/stalls/stall_text.hpp"
#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using Catch::Matchers::Contains;
using lapse::test::ReplicatingRanks;

namespace {

constexpr Key kKey(3);

UnsyncedRecord unsynced(ReplicatingRanks& ranks, std::size_t rank) LAPSE_REQUIRES(progress_role) {
  return find_unsynced(ranks.protocol(rank).registry(), lapse::steady_time().now());
}
Unsynced kind(const UnsyncedRecord& record) {
  return static_cast<Unsynced>(record.what);
}

// The report of rank `rank`'s question why its replicas are not synced. Every rank answers.
std::string sync_text(ReplicatingRanks& ranks, std::size_t rank) LAPSE_REQUIRES(progress_role) {
  WorkerEndpoint& worker = *ranks.protocol(rank).registry().workers()[0];
  StallQuestion& question = worker.stall_question();
  question.collective_calls = 0;
  question.synced = true;
  question.unsynced.clear();
  question.finished = false;
  ranks.protocol(rank).stall_inquiry().handle_submission(question);
  ranks.protocol(rank).end_turn();
  ranks.deliver_all();
  REQUIRE(question.finished);
  return stall_text({.worker = 0,
                     .rank = Rank(static_cast<std::int32_t>(rank)),
                     .waited = std::chrono::seconds(60),
                     .what = "copies",
                     .answers = &question});
}

}  // namespace

TEST_CASE("A rank that is not synced names the key, and the rank that it waits for") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, 8, 8);
  CHECK(kind(unsynced(ranks, 0)) == Unsynced::nothing);
  ranks.want(0, std::span(&kKey, 1));
  ranks.round(0);
  ranks.want(1, std::span(&kKey, 1));
  ranks.round(1);
  UnsyncedRecord record = unsynced(ranks, 1);
  CHECK(kind(record) == Unsynced::announcement);
  CHECK(record.key == kKey.value());
  CHECK(record.count == 1);
  CHECK(record.peer == 0);
  ranks.deliver_all();
  CHECK(kind(unsynced(ranks, 1)) == Unsynced::nothing);
  // A change of the replica that was sent, and one that cannot be sent yet.
  REQUIRE(ranks.push(1, kKey, 1));
  ranks.round(1);
  CHECK(kind(unsynced(ranks, 1)) == Unsynced::change);
  ranks.deliver_all();  // The owner has merged it, and refreshes the replica in its next round.
  CHECK(kind(unsynced(ranks, 0)) == Unsynced::refresh);
  CHECK(
      sync_text(ranks, 1) ==
      "worker 0 on rank 1 has waited for 60 s for copies\n"
      "  rank 1 is not synced: changes of its copies are not acknowledged: key 3 of table 'table'; the owner "
      "was last on rank 0; for 0.0 s\n"
      "  rank 0 is not synced: changes of its main copies are not sent yet: key 3 of table 'table'\n"
      "  what this means, and what to look at: docs/stalls.md");
  // While it is leased, it cannot be refreshed.
  REQUIRE(ranks.table(0).store().grant_lease(kKey));
  ranks.round(0);
  CHECK(kind(unsynced(ranks, 0)) == Unsynced::leased_main);
  REQUIRE(ranks.table(0).store().release_lease(kKey));
  ranks.round(0);
  ranks.deliver_all();
  CHECK(kind(unsynced(ranks, 0)) == Unsynced::nothing);
  CHECK(kind(unsynced(ranks, 1)) == Unsynced::nothing);
  // The replica is released.
  ranks.unwant(1, std::span(&kKey, 1));
  CHECK(sync_text(ranks, 0).find("rank 1 is not synced: its next round finds keys") != std::string::npos);
  ranks.round(1);
  CHECK(kind(unsynced(ranks, 1)) == Unsynced::end);
  ranks.deliver_all();
  CHECK(kind(unsynced(ranks, 1)) == Unsynced::nothing);
}

TEST_CASE("A worker that waits for a key hears what its own domain waits for") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, 8, 8);
  ranks.want(0, std::span(&kKey, 1));
  ranks.round(0);
  WorkerEndpoint& worker = *ranks.protocol(1).registry().workers()[0];
  const auto begin = [&](OperationKind what, std::int64_t& value) LAPSE_REQUIRES(progress_role) {
    OperationState& operation = worker.acquire();
    operation.kind = what;
    operation.table = &ranks.table(1);
    operation.row_unit = operation.payload_unit = sizeof value;
    worker.unanswered().begin(operation, TableId(0));
    worker.unanswered().add();
    operation.items.emplace_back(kKey, 0, 0);
    operation.destination = reinterpret_cast<std::byte*>(&value);
    operation.updates = reinterpret_cast<const std::byte*>(&value);
    operation.remaining = 1;
    worker.opened(operation);
    ranks.protocol(1).access().handle_submission(operation);
    ranks.protocol(1).end_turn();
  };
  // Asked before any message is delivered: rank 0 does not answer.
  const auto text = [&]() LAPSE_REQUIRES(progress_role) {
    StallQuestion& question = worker.stall_question();
    question.collective_calls.reset();
    question.keys.clear();
    question.silent.clear();
    question.finished = false;
    ranks.protocol(1).stall_inquiry().handle_submission(question);
    ranks.protocol(1).end_turn();
    ranks.protocol(1).handle_deadline(Replication::Clock::now() + 2 * StallInquiry::kPatience);
    REQUIRE(question.finished);
    return stall_text({.worker = 1,
                       .rank = Rank(1),
                       .waited = std::chrono::seconds(60),
                       .what = "an answer",
                       .answers = &question});
  };
  const auto contains = [](const std::string& all, const std::string& part) {
    INFO(all);
    CHECK(all.find(part) != std::string::npos);
  };
  std::int64_t value = 0;
  ranks.want(1, std::span(&kKey, 1));
  ranks.round(1);
  begin(OperationKind::pull, value);
  contains(text(),
           "pull of key 3 of table 'table': its home, rank 0, does not answer, so its owner is not "
           "known; rank 1 asked rank 0 for a copy 0.0 s ago, which has not arrived");
  ranks.deliver_all();
  REQUIRE(worker.open() == 0);
  REQUIRE(ranks.role(1, kKey) == Role::replica);
  // A set waits at the replica until a change has been merged (rule 26).
  REQUIRE(ranks.push(1, kKey, 1));
  ranks.round(1);
  begin(OperationKind::set, value);
  contains(text(),
           "; rank 1 has a copy of 0.0 s ago, whose changes rank 0 has not acknowledged; queued there: 1 "
           "operation, for");
  ranks.deliver_all();
  ranks.round(0);
  ranks.deliver_all();
  CHECK(worker.open() == 0);
  // Released, and wanted by no domain: the pull is sent to the home.
  ranks.unwant(1, std::span(&kKey, 1));
  ranks.round(1);
  begin(OperationKind::pull, value);
  contains(text(), "; rank 1 gave its copy back to rank 0 0.0 s ago, which has not acknowledged it");
  ranks.deliver_all();
  CHECK(worker.open() == 0);
}

TEST_CASE("A copy that is about to become the main copy is named as such") {
  ReplicatingRanks ranks(2, 8, 8);
  StallQuestion answers;
  answers.keys.push_back({.table = &ranks.table(1),
                          .key = kKey,
                          .kind = OperationKind::set,
                          .home = Rank(0),
                          .owner = Domain(1),
                          .owner_rank = Rank(1),
                          .at_owner = KeyStanding{.role = Role::upgrading, .operations = 2},
                          .here = KeyStanding{.role = Role::upgrading, .operations = 2}});
  const std::string text = stall_text({.worker = 0,
                                       .rank = Rank(1),
                                       .waited = std::chrono::seconds(60),
                                       .what = "an answer",
                                       .answers = &answers});
  CHECK(
      text.find("set of key 3 of table 'table': on its way to rank 1; queued there: 2 operations, for 0.0 s; "
                "rank 1 has a copy of 0.0 s ago, and has asked for the key; queued there: 2 operations") !=
      std::string::npos);
}

TEST_CASE("Of a key on its way, a silent rank is named that may have to pass it on") {
  ReplicatingRanks ranks(2, 8, 8);
  StallQuestion answers;
  answers.keys.push_back({.table = &ranks.table(1),
                          .key = kKey,
                          .kind = OperationKind::localize,
                          .home = Rank(1),
                          .owner = Domain(1),
                          .owner_rank = Rank(1),
                          .at_owner = KeyStanding{.role = Role::arriving}});
  const auto text = [&] {
    return stall_text({.worker = 0,
                       .rank = Rank(1),
                       .waited = std::chrono::seconds(60),
                       .what = "an answer",
                       .answers = &answers});
  };
  CHECK_THAT(text(), Contains("localize of key 3 of table 'table': on its way to rank 1\n"));
  // This rank itself waits for the key.
  answers.silent = {Rank(1)};
  CHECK_THAT(text(), Contains("localize of key 3 of table 'table': on its way to rank 1\n"));
  answers.silent = {Rank(0)};
  CHECK_THAT(text(), Contains("on its way to rank 1, perhaps from rank 0, which does not answer\n"));
}

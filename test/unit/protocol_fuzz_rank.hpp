// A rank whose messages a test damages.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/ps/access/operation_builder.hpp"
#include "lapse/ps/access/reduction.hpp"
#include "lapse/ps/stalls/stall_text.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/random_intents.hpp"
#include "test/support/random_policy.hpp"
#include "test/unit/protocol_fuzz_tables.hpp"

namespace lapse::test {

inline constexpr std::size_t kWorkers = 2;
inline constexpr std::size_t kArgumentBytes = 12;
inline constexpr std::size_t kResultBytes = 4;
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// One rank without threads: its protocol, and workers whose calls the test makes.
class FuzzRank {
 public:
  FuzzRank(LoopbackNetwork& network, Rank self, const FuzzSetup& setup)
      : alone_(DomainMap::of_ranks(kRanks)),
        domains_(DomainMap::of_hosts(std::vector<std::int32_t>(kRanks, 0), setup.domain_ranks)),
        policy_(Technique::adversarial, replicable_tables(setup.copies), mix_bits(setup.seed + self.index())),
        protocol_(network.endpoint(self), router_) {
    Transport& transport = network.endpoint(self);
    transport.shared_memory()->join_group(domains_.domain_of(self).value());
    FuzzTableMaker maker(setup, domains_, alone_, transport, regions_);
    for (std::uint32_t id = 0; id < kTables.size(); ++id) protocol_.registry().add(maker.make(id));
    protocol_.registry().add(
        RegisteredFunction{.name = "function",
                           .type = ElementType::int32,
                           .argument_bytes = kArgumentBytes,
                           .result_bytes = kResultBytes,
                           .run = [](Key key, std::byte*, std::size_t, const std::byte*, std::byte* result) {
                             if (key.value() % 5 == 0) throw std::runtime_error("no such luck");
                             std::memset(result, 1, kResultBytes);
                           }});
    protocol_.registry().prepare_workers(kWorkers);
    std::vector<Rank> all;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) all.push_back(Rank(rank));
    protocol_.replication().set_times({.interval = std::nullopt, .credit_bytes = 200});
    protocol_.replication().set_policy(&policy_);
    protocol_.replication().set_source(&intents_);
    protocol_.groups().all().collective().start(all, self, &combine_contributions);
    protocol_.termination().start();
  }

  RankProtocol& protocol() { return protocol_; }

  // A few keys of a small range, which may repeat, or many consecutive keys, a few of them twice.
  static std::vector<Key> draw_keys(RandomEngine& random) {
    std::vector<Key> keys;
    if (random.below(3) > 0) {
      for (std::uint64_t i = 1 + random.below(6); i > 0; --i) keys.emplace_back(random.below(kKeys / 6));
      return keys;
    }
    const std::uint64_t first = random.below(kKeys);
    for (std::uint64_t i = 1 + random.below(kKeys); i > 0; --i) keys.emplace_back((first + i) % kKeys);
    for (std::uint64_t i = random.below(4); i > 0; --i) keys[random.below(keys.size())] = keys[0];
    return keys;
  }
  // A call of a worker with keys that may repeat, built like workers build it. The updates are freed when it
  // has been taken, and destinations have exactly the required size.
  void call(RandomEngine& random) {
    WorkerEndpoint& worker = *protocol_.registry().workers()[random.below(kWorkers)];
    if (&worker == holder_ || !worker.lease_request().finished) return;
    TableShard& table = *protocol_.registry().tables()[random.below(kTables.size())];
    const std::vector<Key> keys = draw_keys(random);
    AccessRequest request;
    request.operation.kind = static_cast<OperationKind>(random.below(7));
    request.operation.function = protocol_.registry().functions()[0].get();
    if (random.below(4) == 0) request.operation.scale = random.below(2) == 0 ? 0.5F : kNaN;
    if (is_on_elements(request.operation.kind)) return call_elements(random, worker, table, request);
    const bool localize = request.operation.kind == OperationKind::localize;
    const bool pull = request.operation.kind == OperationKind::pull;
    const bool call = request.operation.kind == OperationKind::call;
    std::size_t bytes = 0;
    for (const Key key : keys) bytes += call ? kArgumentBytes : table.value_bytes(key);
    std::unique_ptr<std::byte[]> updates;
    if (pull || call) {
      destinations_.push_back(std::make_unique<std::byte[]>(call ? keys.size() * kResultBytes : bytes));
      request.destination = destinations_.back().get();
    }
    if (!pull && !localize) {
      updates = std::make_unique<std::byte[]>(bytes);
      std::memset(updates.get(), 1, bytes);
      request.updates = updates.get();
    }
    SubmissionHandler& handler =
        localize ? static_cast<SubmissionHandler&>(protocol_.localize_requests()) : protocol_.access();
    OperationBuilder builder(worker, table, request, handler, keys.size());
    RowCursor rows(table.sizes(), keys, request);
    for (const Key key : keys) {
      if (localize) {
        builder.add(key);
      } else {
        builder.add(rows.next());
      }
    }
    OperationState& operation = builder.finish();
    handler.handle_submission(operation);
    updates.reset();
    keep(random, worker, operation);
  }
  // A call on one to three elements of each key.
  void call_elements(RandomEngine& random, WorkerEndpoint& worker, TableShard& table, AccessRequest request) {
    if (!table.definition().rule.is_elementwise()) request.operation.kind = OperationKind::pull_elements;
    std::vector<Key> keys;
    std::vector<std::uint32_t> indices;
    for (const Key key : draw_keys(random)) {
      for (std::uint64_t i = random.below(3); i < 3; ++i) {
        keys.push_back(key);
        indices.push_back(static_cast<std::uint32_t>(random.below(table.sizes().length(key))));
      }
    }
    const std::size_t bytes = keys.size() * element_bytes(table.sizes().layout().type);
    std::vector<std::byte> updates(bytes, std::byte{1});
    if (request.operation.kind == OperationKind::pull_elements) {
      destinations_.push_back(std::make_unique<std::byte[]>(bytes));
      request.destination = destinations_.back().get();
    } else {
      request.updates = updates.data();
    }
    OperationBuilder builder(worker, table, request, protocol_.access(), keys.size());
    const ElementPairs pairs{keys, indices};
    for (std::size_t first = 0; first < pairs.size(); first = pairs.end_of_run(first))
      builder.add(pairs, first, pairs.end_of_run(first));
    OperationState& operation = builder.finish();
    protocol_.access().handle_submission(operation);
    keep(random, worker, operation);
  }
  void keep(RandomEngine& random, WorkerEndpoint& worker, OperationState& operation) {
    protocol_.end_turn();
    // Some operations are detached at once, the others are kept to the end.
    if (random.below(4) == 0) {
      operation.destination = nullptr;
      worker.release(operation);
    } else {
      calls_.push_back({&worker, &operation});
    }
  }

  // --- replicas

  // The rank's workers begin to want some keys, or stop wanting some; then a round begins.
  void toggle(RandomEngine& random) {
    if (random.below(2) == 0 || wants_.empty()) {
      wants_.push_back(
          {TableId(static_cast<std::uint32_t>(random.below(kTables.size()))), draw_keys(random)});
      intents_.want(wants_.back().table, wants_.back().keys);
    } else {
      std::swap(wants_[random.below(wants_.size())], wants_.back());
      intents_.unwant(wants_.back().table, wants_.back().keys);
      wants_.pop_back();
    }
    round();
  }
  void round() {
    protocol_.replication().round(Replication::Clock::now());
    protocol_.end_turn();
  }
  // A worker changes local replicas.
  void push_to_copies(RandomEngine& random) {
    TableShard& table = *protocol_.registry().tables()[random.below(kTables.size())];
    for (const Key key : draw_keys(random)) {
      Store::Word* const word = table.store().find(key);
      if (word == nullptr) continue;
      const std::vector<std::byte> update(table.value_bytes(key), std::byte{1});
      try {
        static_cast<void>(table.push_any(*word, key, {.kind = OperationKind::push}, update.data()));
      } catch (const std::runtime_error&) {
        // The rule has refused the update.
      }
    }
  }
  // A worker waits for replicas, unless it already does.
  void sync(RandomEngine& random) {
    SyncRequest& request = protocol_.registry().workers()[random.below(kWorkers)]->sync_request();
    if (!request.finished || !protocol_.synchronization().has_work()) return;
    request.finished = false;
    protocol_.synchronization().handle_submission(request);
    protocol_.end_turn();
  }

  // --- leases, one worker at a time

  // A worker requests a lease, uses the keys that it holds, or ends its lease.
  void lease(RandomEngine& random) {
    if (holder_ == nullptr) return begin_lease(random);
    LeaseRequest& request = holder_->lease_request();
    if (!request.finished) return;
    if (request.failure) {
      holder_ = nullptr;
      return;
    }
    if (!std::exchange(releases_, random.below(2) == 0)) {
      for (const LeaseRequest::Item& item : request.items) {
        std::byte* const content = request.content(item);
        for (std::size_t i = 0; i < item.table->content_bytes(item.key); ++i) content[i] ^= std::byte{1};
      }
      return;
    }
    std::erase_if(request.items, [&](const LeaseRequest::Item& item) {
      return request.copy(item) == nullptr && item.table->store().release_lease(item.key);
    });
    // The holder's last step: the engine releases the remaining keys.
    holder_ = nullptr;
    if (!request.items.empty()) submit(request, true);
  }

  // --- waits

  // A worker asks why it waits, or prints the answer.
  void ask(RandomEngine& random) {
    WorkerEndpoint& worker = *protocol_.registry().workers()[random.below(kWorkers)];
    StallQuestion& question = worker.stall_question();
    if (!question.finished) return;
    static_cast<void>(
        stall_text({.rank = protocol_.registry().self(), .what = "a test", .answers = &question}));
    question.collective_calls.reset();
    if (random.below(2) == 0) question.collective_calls = static_cast<std::uint32_t>(random.below(3));
    question.synced = random.below(2) == 0;
    question.asked = StallQuestion::Clock::now();
    question.keys.clear();
    question.further_keys = 0;
    question.absent.clear();
    question.further_absent = 0;
    question.unsynced.clear();
    question.silent.clear();
    question.finished = false;
    protocol_.stall_inquiry().handle_submission(question);
    protocol_.end_turn();
  }
  // The workers of the rank wait until all ranks are idle.
  void detect_quiescence(RandomEngine& random) {
    protocol_.termination().detect_within_phase(random.below(2) == 0 ? IdleLevel::answered
                                                                     : IdleLevel::synced);
    protocol_.end_turn();
  }

  // Returns finished operations, so that operation objects are reused.
  void release_finished() {
    std::erase_if(calls_, [](const Call& call) {
      if (!call.operation->done()) return false;
      call.worker->release(*call.operation);
      return true;
    });
  }
  std::size_t unfinished() {
    std::size_t syncs = 0;
    for (const auto& worker : protocol_.registry().workers())
      syncs += worker->sync_request().finished ? 0 : 1;
    return calls_.size() + syncs;
  }

  // The rank's workers add two numbers. Those of its last call have the sums.
  void collective_call() {
    const Collective& collective = protocol_.groups().all().collective();
    const ReductionHeader call{.kind = ReductionHeader::Kind::reduce_int64, .elements = 2};
    if (collective.completed_rounds() > std::exchange(rounds_, collective.completed_rounds()))
      std::ranges::copy(result_elements(collective.result(), call), sums_->begin());
    contribution_.bytes = make_contribution(call, *sums_);
    protocol_.groups().all().collective().handle_submission(contribution_);
    protocol_.end_turn();
  }

 private:
  struct Want {
    TableId table;
    std::vector<Key> keys;
  };
  void begin_lease(RandomEngine& random) {
    WorkerEndpoint& worker = *protocol_.registry().workers()[random.below(kWorkers)];
    LeaseRequest& request = worker.lease_request();
    if (!request.finished || worker.unanswered().total() > 0) return;
    TableShard& table = *protocol_.registry().tables()[random.below(kTables.size())];
    std::vector<Key> keys = draw_keys(random);
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    request.items.clear();
    for (const Key key : keys) request.items.push_back({&table, key});
    request.failure = nullptr;
    request.granted = 0;
    request.copies.clear();
    holder_ = &worker;
    releases_ = false;
    submit(request, false);
  }
  void submit(LeaseRequest& request, bool releasing) {
    request.releasing = releasing;
    request.finished = false;
    protocol_.leases().handle_submission(request);
    protocol_.end_turn();
  }

  struct Call {
    WorkerEndpoint* worker;
    OperationState* operation;
  };

  PrivateRegionAllocator regions_;
  DomainMap alone_;
  DomainMap domains_;
  Router router_;
  RandomPolicy policy_;
  RandomIntents intents_;
  RankProtocol protocol_;
  Contribution contribution_;
  std::uint64_t rounds_ = 0;
  std::unique_ptr<std::array<std::byte, 16>> sums_ = std::make_unique<std::array<std::byte, 16>>();
  std::vector<Call> calls_;
  std::vector<Want> wants_;
  WorkerEndpoint* holder_ = nullptr;  // the worker with a lease or a request for one; it makes no other calls
  bool releases_ = false;             // its next step ends the lease
  std::vector<std::unique_ptr<std::byte[]>> destinations_;
};

}  // namespace lapse::test

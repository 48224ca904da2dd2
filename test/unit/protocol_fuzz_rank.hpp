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
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/ps/operation_builder.hpp"
#include "lapse/store/copy_merger.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/random_intents.hpp"
#include "test/support/random_policy.hpp"
#include "test/support/table_shard_builder.hpp"

namespace lapse::test {

inline constexpr std::int32_t kRanks = 3;
inline constexpr std::uint64_t kKeys = 96;
inline constexpr std::size_t kWorkers = 2;
inline constexpr std::size_t kArgumentBytes = 12;
inline constexpr std::size_t kResultBytes = 4;
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The tables by number: small values of one length, of which only some are padded in packets; one rule of the
// application; values with lengths of their own, which never travel in runs; dense and sparse.
struct FuzzTable {
  ElementType type;
  std::size_t length;
  bool sparse;
  bool own_lengths;
  bool custom;
};
inline constexpr std::array<FuzzTable, 5> kTables{{
    {ElementType::int32, 3, false, false, false},
    {ElementType::float64, 2, false, false, false},
    {ElementType::float32, 4, true, true, false},
    {ElementType::float32, 5, true, false, false},
    {ElementType::int32, 4, false, false, true},
}};

// Which tables have copies.
enum class FuzzCopies {
  none,
  library,  // those with a rule of the library
  all,      // also the one whose rule refuses updates: it may refuse a merge
};

// Adds, and refuses some updates.
struct CapriciousRule {
  std::string name() const { return "capricious"; }
  std::size_t state_elements(std::size_t length) const { return length; }
  void initialise(std::span<const std::int32_t>, std::span<std::int32_t> state) const {
    std::ranges::fill(state, 0);
  }
  void apply(std::span<std::int32_t> value, std::span<std::int32_t> state,
             std::span<const std::int32_t> update, float) const {
    if (value[0] % 7 == 4) throw std::runtime_error("not today");
    for (std::size_t i = 0; i < value.size(); ++i) value[i] ^= state[i] ^ update[i];
    ++value[0];
  }
};

// One rank without threads: its protocol, and workers with calls that the test makes.
class FuzzRank {
 public:
  FuzzRank(LoopbackNetwork& network, Rank self, FuzzCopies copies, std::uint64_t seed)
      : domains_(DomainMap::of_ranks(kRanks)),
        policy_(Technique::adversarial, replicable(copies), mix_bits(seed + self.index())),
        protocol_(network.endpoint(self), router_) {
    const Domain domain(self.value());
    for (std::uint32_t id = 0; id < kTables.size(); ++id) {
      const FuzzTable& kind = kTables[id];
      HomeMap homes = kind.sparse ? HomeMap::sparse_hash(kRanks, domain)
                      : id == 0   ? HomeMap::hash(kKeys, kRanks, domain)
                                  : HomeMap::range(kKeys, kRanks, domain);
      const UpdateRule rule = kind.custom        ? UpdateRule::custom<std::int32_t>(CapriciousRule{})
                              : kind.own_lengths ? UpdateRule::adagrad()
                              : kind.sparse
                                  ? (copies == FuzzCopies::none ? UpdateRule::adagrad() : UpdateRule::adam())
                                  : UpdateRule::add();
      const ValueLayout layout{
          .type = kind.type,
          .length = kind.length,
          .state = rule.state_size(),
          .copies = replicable(copies)[id] ? CopyMerger::copies(rule.merge()) : Copies::none};
      ValueSizes sizes = kind.own_lengths
                             ? ValueSizes::computed(layout, [](Key key) { return 1 + key.value() % 3; })
                             : ValueSizes(layout);
      protocol_.registry().add(build_table_shard({.id = TableId(id),
                                                  .location_caches = id % 2 == 0,
                                                  .rule = rule,
                                                  .max_units = kind.sparse ? 10'000 : 10 * kKeys},
                                                 domains_, self, std::move(homes), kind.sparse,
                                                 kind.sparse ? 1000 : kKeys, std::move(sizes), regions_));
    }
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
    const auto combine = [](Bytes& into, const Bytes& from) {
      if (into.size() != from.size()) throw ProtocolError("contributions of different lengths");
    };
    protocol_.replication().set_times({.interval = std::nullopt});
    protocol_.replication().set_policy(&policy_);
    protocol_.replication().set_source(&intents_);
    protocol_.worker_collective().start(all, self, combine);
    protocol_.termination().start();
  }

  RankProtocol& protocol() { return protocol_; }

  // Some keys over few, which may repeat, or many that follow each other, a few of them twice.
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
  // A call of a worker with keys that may repeat, built as workers build it; the updates are gone when it has
  // been taken, and destinations are of exactly the right size.
  void call(RandomEngine& random) {
    WorkerEndpoint& worker = *protocol_.registry().workers()[random.below(kWorkers)];
    TableShard& table = *protocol_.registry().tables()[random.below(kTables.size())];
    const std::vector<Key> keys = draw_keys(random);
    AccessRequest request;
    request.operation.kind = static_cast<OperationKind>(random.below(5));
    request.operation.function = protocol_.registry().functions()[0].get();
    if (random.below(4) == 0) request.operation.scale = random.below(2) == 0 ? 0.5F : kNaN;
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
    protocol_.end_turn();
    // Some are detached at once, the others stay until the end.
    if (random.below(4) == 0) {
      operation.destination = nullptr;
      worker.release(operation);
    } else {
      calls_.push_back({&worker, &operation});
    }
  }

  // --- copies

  // The rank's workers begin to want some keys, or cease to want some that they wanted; then a round begins.
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
  // A worker changes copies that are here.
  void push_to_copies(RandomEngine& random) {
    TableShard& table = *protocol_.registry().tables()[random.below(kTables.size())];
    for (const Key key : draw_keys(random)) {
      Store::Word* const word = table.store().find(key);
      if (word == nullptr) continue;
      const std::vector<std::byte> update(table.value_bytes(key), std::byte{1});
      try {
        static_cast<void>(table.push_any(*word, key, update.data(), 1.0F));
      } catch (const std::runtime_error&) {
        // The rule has refused it.
      }
    }
  }
  // A worker waits for copies, unless it does so already.
  void sync(RandomEngine& random) {
    SyncRequest& request = protocol_.registry().workers()[random.below(kWorkers)]->sync_request();
    if (!request.finished || !protocol_.synchronization().has_work()) return;
    request.finished = false;
    protocol_.synchronization().handle_submission(request);
    protocol_.end_turn();
  }

  // Gives back what is finished, so that operation objects are used again.
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

  void collective_call() {
    contribution_.bytes.assign(8, std::byte{1});
    protocol_.worker_collective().handle_submission(contribution_);
    protocol_.end_turn();
  }

 private:
  struct Want {
    TableId table;
    std::vector<Key> keys;
  };
  static std::vector<bool> replicable(FuzzCopies copies) {
    std::vector<bool> all;
    for (const FuzzTable& kind : kTables)
      all.push_back(copies == FuzzCopies::all || (copies == FuzzCopies::library && !kind.custom));
    return all;
  }

  struct Call {
    WorkerEndpoint* worker;
    OperationState* operation;
  };

  PrivateRegionAllocator regions_;
  DomainMap domains_;
  Router router_;
  RandomPolicy policy_;
  RandomIntents intents_;
  RankProtocol protocol_;
  Contribution contribution_;
  std::vector<Call> calls_;
  std::vector<Want> wants_;
  std::vector<std::unique_ptr<std::byte[]>> destinations_;
};

}  // namespace lapse::test

// Damaged messages: the protocol of several ranks is fed with packets of real traffic in which bytes,
// lengths, numbers and positions have been changed. Every packet is handled or refused
// with a ProtocolError; with AddressSanitizer and UndefinedBehaviorSanitizer nothing is read or written
// where it should not be.
#include <cstring>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

namespace lapse {
namespace {

constexpr std::int32_t kRanks = 3;
constexpr std::uint64_t kKeys = 24;
constexpr std::size_t kWorkers = 2;
constexpr TableId kTables[] = {TableId(0), TableId(1), TableId(2)};  // the last one is sparse

// One rank without threads: its protocol, and workers with calls that the test makes.
class FuzzRank {
 public:
  FuzzRank(LoopbackNetwork& network, Rank self)
      : domains_(DomainMap::of_ranks(kRanks)), protocol_(network.endpoint(self), router_) {
    for (const TableId id : kTables) {
      const Domain domain(self.value());
      const bool sparse = id == kTables[2];
      HomeMap homes = sparse             ? HomeMap::sparse_hash(kRanks, domain)
                      : id == kTables[0] ? HomeMap::hash(kKeys, kRanks, domain)
                                         : HomeMap::range(kKeys, kRanks, domain);
      // Values of 12 bytes are padded on the wire, values of 16 are not;
      // sparse ones have lengths of their own.
      const UpdateRule rule = sparse ? UpdateRule::adagrad() : UpdateRule::add();
      const ElementType type = sparse ? ElementType::float32 : ElementType::int32;
      const ValueLayout layout{type, id == kTables[0] ? std::size_t{3} : std::size_t{4}, rule.state_size()};
      ValueSizes sizes = sparse ? ValueSizes::computed(layout, [](Key key) { return 1 + key.value() % 3; })
                                : ValueSizes(layout);
      protocol_.registry().add(test::build_table_shard(
          {.id = id, .location_caches = id == kTables[0], .rule = rule, .max_units = sparse ? 10'000 : kKeys},
          domains_, self, std::move(homes), sparse, sparse ? 1000 : kKeys, std::move(sizes), regions_));
    }
    protocol_.registry().add(
        RegisteredFunction{.name = "function",
                           .type = ElementType::int32,
                           .argument_bytes = 12,
                           .result_bytes = 4,
                           .run = [](Key key, std::byte*, std::size_t, const std::byte*, std::byte* result) {
                             if (key.value() % 5 == 0) throw std::runtime_error("no such luck");
                             std::memset(result, 1, 4);
                           }});
    protocol_.registry().prepare_workers(kWorkers);
    std::vector<Rank> all;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) all.push_back(Rank(rank));
    const auto combine = [](Bytes& into, const Bytes& from) {
      if (into.size() != from.size()) throw ProtocolError("contributions of different lengths");
    };
    protocol_.worker_collective().start(all, self, combine);
    protocol_.termination().start();
  }

  RankProtocol& protocol() { return protocol_; }

  // A call of a worker with keys that may repeat; destinations are of exactly the right size.
  void call(RandomEngine& random) {
    WorkerEndpoint& worker = *protocol_.registry().workers()[random.below(kWorkers)];
    TableShard& table = *protocol_.registry().tables()[random.below(3)];
    OperationState& operation = worker.acquire();
    operation.kind = static_cast<OperationKind>(random.below(5));
    operation.table = &table;
    operation.function = protocol_.registry().functions()[0].get();
    const std::size_t keys = 1 + random.below(5);
    const bool localize = operation.kind == OperationKind::localize;
    const bool call = operation.kind == OperationKind::call;
    std::size_t rows = 0;
    std::size_t updates = 0;
    for (std::uint32_t i = 0; i < keys; ++i) {
      const Key key(random.below(kKeys));
      operation.items.push_back({key, localize ? nullptr : &worker.unanswered().add(table.id(), key),
                                 static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(updates),
                                 false});
      rows += call ? 4 : table.value_bytes(key);
      updates += call ? 12 : table.value_bytes(key);
    }
    if (operation.kind == OperationKind::pull || call) {
      destinations_.push_back(std::make_unique<std::byte[]>(rows));
      operation.destination = destinations_.back().get();
    }
    if (!localize && operation.kind != OperationKind::pull) operation.payload.resize(updates, std::byte{1});
    operation.remaining = static_cast<std::uint32_t>(keys);
    worker.opened(operation);
    if (localize) {
      protocol_.localize_requests().handle_submission(operation);
    } else {
      protocol_.access().handle_submission(operation);
    }
    protocol_.end_turn();
    // Some are detached at once, the others stay until the end.
    if (random.below(4) == 0) {
      operation.destination = nullptr;
      worker.release(operation);
    } else {
      calls_.push_back({&worker, &operation});
    }
  }

  // Gives back what is finished, so that operation objects are used again.
  void release_finished() {
    std::erase_if(calls_, [](const Call& call) {
      if (!call.operation->done()) return false;
      call.worker->release(*call.operation);
      return true;
    });
  }
  std::size_t unfinished() const { return calls_.size(); }

  void collective_call() {
    contribution_.bytes.assign(8, std::byte{1});
    protocol_.worker_collective().handle_submission(contribution_);
    protocol_.end_turn();
  }

 private:
  struct Call {
    WorkerEndpoint* worker;
    OperationState* operation;
  };

  PrivateRegionAllocator regions_;
  DomainMap domains_;
  Router router_;
  RankProtocol protocol_;
  Contribution contribution_;
  std::vector<Call> calls_;
  std::vector<std::unique_ptr<std::byte[]>> destinations_;
};

using Packet = std::vector<std::byte>;

std::vector<std::size_t> frame_offsets(const Packet& packet) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at + sizeof(FrameHeader) <= packet.size();) {
    FrameHeader header;
    std::memcpy(&header, packet.data() + at, sizeof header);
    offsets.push_back(at);
    at += sizeof header + (std::size_t{header.count} * header.record_bytes + 7) / 8 * 8;
  }
  return offsets;
}

template <class T>
void change(T& field, RandomEngine& random) {
  switch (random.below(5)) {
    case 0:
      field = static_cast<T>(random.below(8));
      break;
    case 1:
      ++field;
      break;
    case 2:
      --field;
      break;
    case 3:
      field = static_cast<T>(~std::uint64_t{0} << random.below(8 * sizeof(T)));
      break;
    default:
      field = static_cast<T>(random());
      break;
  }
}

void change_header(Packet& packet, std::size_t at, RandomEngine& random) {
  FrameHeader header;
  std::memcpy(&header, packet.data() + at, sizeof header);
  switch (random.below(8)) {
    case 0:
      header.kind = static_cast<std::uint16_t>(random.below(kFrameKinds + 1));
      break;
    case 1:
      change(header.flags, random);
      break;
    case 2:
      change(header.table, random);
      break;
    case 3:
      change(header.count, random);
      break;
    case 4:
      change(header.record_bytes, random);
      break;
    case 5:
      change(header.origin, random);
      break;
    case 6:
      change(header.domain, random);
      break;
    default:
      change(header.operation, random);
      break;
  }
  std::memcpy(packet.data() + at, &header, sizeof header);
}

// Something that begins in the records: keys, items, counters, values.
void change_record(Packet& packet, std::size_t at, RandomEngine& random) {
  const std::size_t first = at + sizeof(FrameHeader);
  if (first + 8 > packet.size()) return;
  const std::size_t place = first + 4 * random.below((packet.size() - first) / 4 - 1);
  std::uint64_t number;
  std::memcpy(&number, packet.data() + place, sizeof number);
  change(number, random);
  std::memcpy(packet.data() + place, &number, sizeof number);
}

void damage(Packet& packet, RandomEngine& random) {
  const auto offsets = frame_offsets(packet);
  switch (random.below(6)) {
    case 0:
      packet.resize(random.below(packet.size() + 1));
      break;
    case 1:
      packet[random.below(packet.size())] = static_cast<std::byte>(random());
      break;
    case 2:
      packet.resize(packet.size() + 1 + random.below(80), static_cast<std::byte>(random()));
      break;
    case 3:
      change_record(packet, offsets[random.below(offsets.size())], random);
      break;
    default:
      change_header(packet, offsets[random.below(offsets.size())], random);
      break;
  }
}

struct Outcome {
  std::uint64_t handled = 0;
  std::uint64_t refused = 0;
  std::uint64_t unfinished = 0;
};

// Lets workers call and delivers packets. One packet in `damage_one_in` is damaged,
// repeated or misdirected (0: none).
void run_world(std::uint64_t seed, std::uint64_t damage_one_in, int calls, Outcome& outcome) {
  RandomEngine random(seed);
  LoopbackNetwork network(kRanks, seed % 2 == 1);
  std::vector<std::unique_ptr<FuzzRank>> ranks;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(std::make_unique<FuzzRank>(network, Rank(rank)));
  }
  const auto attempt = [&](auto&& step) {
    try {
      step();
      ++outcome.handled;
    } catch (const ProtocolError&) {
      ++outcome.refused;
    }
  };
  const auto handle = [&](Rank to, Rank from, const Packet& packet) {
    RankProtocol& protocol = ranks[to.index()]->protocol();
    // A block of its own, of exactly this size.
    const std::unique_ptr<std::byte[]> exact(new std::byte[packet.size()]);
    std::memcpy(exact.get(), packet.data(), packet.size());
    attempt([&] { protocol.handle_packet(from, {exact.get(), packet.size()}); });
    attempt([&] { protocol.end_turn(); });
  };
  for (auto& rank : ranks) rank->collective_call();
  for (int made = 0;;) {
    if (made < calls && random.below(3) == 0) {
      attempt([&] { ranks[random.below(kRanks)]->call(random); });
      ++made;
      continue;
    }
    const auto choices = network.deliverable();
    if (choices.empty()) {
      if (made == calls) break;
      continue;
    }
    const auto choice = choices[random.below(choices.size())];
    Packet packet;
    const bool bag = choice.lane == Transport::Lane::bulk;
    network.deliver(
        choice, [&](Rank, std::span<const std::byte> bytes) { packet.assign(bytes.begin(), bytes.end()); },
        bag ? random.below(choice.count) : 0);
    if (damage_one_in == 0 || random.below(damage_one_in) != 0) {
      handle(choice.to, choice.from, packet);
    } else {
      const std::uint64_t what = random.below(8);
      if (what == 0) handle(choice.to, choice.from, packet);  // twice
      if (what > 1) damage(packet, random);
      const Rank to = what == 1 ? Rank(static_cast<std::int32_t>(random.below(kRanks))) : choice.to;
      handle(to, choice.from, packet);
    }
    for (auto& rank : ranks) rank->release_finished();
  }
  for (auto& rank : ranks) outcome.unfinished += rank->unfinished();
}

}  // namespace
}  // namespace lapse

TEST_CASE("Undamaged traffic is handled and every operation ends") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 0; seed < 100; ++seed) lapse::run_world(seed, 0, 60, outcome);
  CHECK(outcome.refused == 0);
  CHECK(outcome.handled > 10'000);
  CHECK(outcome.unfinished == 0);
}

TEST_CASE("Damaged packets are handled or refused with a ProtocolError") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) lapse::run_world(seed, 8, 60, outcome);
  // Both happen: the damage is neither always found at once nor never.
  CHECK(outcome.refused > 5'000);
  CHECK(outcome.handled > 100'000);
}

TEST_CASE("Much damage") {
  lapse::Outcome outcome;
  for (std::uint64_t seed = 5000; seed < 6000; ++seed) lapse::run_world(seed, 2, 60, outcome);
  CHECK(outcome.refused > 5'000);
}

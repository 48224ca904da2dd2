#include "lapse/protocol/modules/synchronization.hpp"

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {

template <class Record>
Record sync_record(const FrameHeader& header, const std::byte* records, std::uint32_t at) {
  return record_of<Record>(header, records, at, "a message about a sync has a wrong length");
}

}  // namespace

Synchronization::Synchronization(const Registry& registry, Outbox& outbox, Replication& replication)
    : registry_(registry), outbox_(outbox), replication_(replication) {}

bool Synchronization::has_work() const {
  return std::ranges::any_of(registry_.tables(),
                             [](const auto& table) { return table->store().may_have_copies(); });
}

std::vector<Rank> Synchronization::members() const {
  std::vector<Rank> members;
  for (const auto& table : registry_.tables()) {
    if (!table->store().may_have_copies()) continue;
    for (const Rank rank : table->definition().domains.members(table->self_domain()))
      if (std::ranges::find(members, rank) == members.end()) members.push_back(rank);
  }
  return members;
}

std::vector<Synchronization::Peer> Synchronization::peers() const {
  std::vector<Peer> peers;
  for (std::int32_t number = 0; number < registry_.ranks(); ++number) {
    const Rank rank(number);
    const bool is_peer = std::ranges::any_of(registry_.tables(), [&](const auto& table) {
      const DomainMap& domains = table->definition().domains;
      return table->store().may_have_copies() && domains.domain_of(rank) != table->self_domain() &&
             domains.may_serve_same_key(registry_.self(), rank);
    });
    if (is_peer) peers.push_back({rank, std::nullopt});
  }
  return peers;
}

// --- for workers of the domain

void Synchronization::handle_submission(Submission& submission) {
  auto& request = static_cast<SyncRequest&>(submission);
  const std::uint64_t worker = request.worker->local_index();
  const std::vector<Rank> ranks = members();
  request.unanswered = ranks.size();
  for (const Rank rank : ranks) {
    if (rank == registry_.self()) {
      waiting_.push_back({rank, worker});
      request_end_turn();
    } else {
      outbox_.append_record(rank, FrameHeader::of(FrameKind::sync_for), SyncForRecord{worker});
    }
  }
}

void Synchronization::answered(std::uint64_t worker) {
  WorkerEndpoint& endpoint = registry_.worker(worker);
  SyncRequest& request = endpoint.sync_request();
  if (request.unanswered == 0)
    throw ProtocolError("a sync has been answered for a worker that does not wait");
  if (--request.unanswered > 0) return;
  request.finished.store(true, std::memory_order_release);
  endpoint.bell().ring();
}

// --- the sync of this rank

void Synchronization::begin() {
  served_.swap(waiting_);
  step_ = Step::asking;
  replication_.refreshes().begin(++number_);
  peers_ = peers();
  // Sent after the changes: a rank that gets both directly from here answers both at once.
  for (const Peer& peer : peers_)
    outbox_.append_record(peer.rank, FrameHeader::of(FrameKind::sync), SyncRecord{number_});
}

void Synchronization::take_answer(Rank from, const SyncAnswerRecord& answer) {
  const auto peer = std::ranges::find(peers_, from, &Peer::rank);
  const bool is_awaited = step_ == Step::asking && answer.number == number_ && peer != peers_.end() &&
                          !peer->refreshes.has_value();
  if (!is_awaited) throw ProtocolError("a rank has answered a sync that has not asked it");
  peer->refreshes = answer.refreshes;
}

bool Synchronization::has_refreshed(const Peer& peer) const {
  return peer.refreshes && replication_.refreshes().received(peer.rank) >= *peer.refreshes;
}

std::optional<Rank> Synchronization::awaited() const {
  if (step_ != Step::asking) return std::nullopt;
  for (const Peer& peer : peers_)
    if (!has_refreshed(peer)) return peer.rank;
  return std::nullopt;
}

bool Synchronization::all_merged() const {
  return std::ranges::none_of(registry_.tables(), [](const auto& table) LAPSE_REQUIRES(progress_role) {
    return table->copies() != nullptr && table->copies()->replicas().waits_for_cut();
  });
}

void Synchronization::advance() {
  if (step_ == Step::asking && !awaited()) {
    for (const auto& table : registry_.tables())
      if (table->copies() != nullptr) table->copies()->replicas().cut();
    step_ = Step::merging;
  }
  if (step_ == Step::merging && all_merged()) finish();
}

void Synchronization::finish() {
  step_ = Step::none;
  for (const Waiting& waiting : std::exchange(served_, {})) {
    if (waiting.rank == registry_.self()) {
      answered(waiting.worker);
    } else {
      outbox_.append_record(waiting.rank, FrameHeader::of(FrameKind::sync_for_answer),
                            SyncForRecord{waiting.worker});
    }
  }
}

// --- syncs of other ranks

void Synchronization::answer_asked() {
  std::vector<Asked> later;
  for (const Asked& asked : std::exchange(asked_, {})) {
    // When a lease ends or credit arrives, the rank sends what it owes, and requests the end of a turn.
    bool owes = replication_.owes(asked.by);
    while (owes && !replication_.end_leases_by_engine(asked.by)) {
      replication_.send_changes(now());
      owes = replication_.owes(asked.by);
    }
    replication_.set_awaited(asked.by, owes);
    if (owes) {
      later.push_back(asked);
      continue;
    }
    outbox_.append_record(
        asked.by, FrameHeader::of(FrameKind::sync_answer),
        SyncAnswerRecord{asked.number, replication_.refreshes().answer(asked.by, asked.number)});
  }
  asked_.insert(asked_.end(), later.begin(), later.end());
}

// --- events

void Synchronization::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  for (std::uint32_t i = 0; i < header.count; ++i) {
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::sync_for:
        waiting_.push_back({from, sync_record<SyncForRecord>(header, records, i).worker});
        break;
      case FrameKind::sync_for_answer:
        answered(sync_record<SyncForRecord>(header, records, i).worker);
        break;
      case FrameKind::sync:
        asked_.push_back({from, sync_record<SyncRecord>(header, records, i).number});
        break;
      default:
        take_answer(from, sync_record<SyncAnswerRecord>(header, records, i));
        break;
    }
  }
  request_end_turn();
}

void Synchronization::end_turn() {
  bool begins = step_ == Step::none && !waiting_.empty();
  replication_.set_deltas_awaited(begins || step_ != Step::none);
  if (begins || !asked_.empty())
    replication_.send_changes(now());
  else if (step_ != Step::none)
    replication_.send_unsent_changes();
  answer_asked();
  for (;;) {
    if (begins) begin();
    advance();
    begins = step_ == Step::none && !waiting_.empty();
    if (!begins) break;
    replication_.send_changes(now());
  }
  replication_.set_deltas_awaited(step_ != Step::none);
  // The awaited events happen in other modules: a DELTA is answered, a key arrives, a lease ends.
  if (!idle(IdleLevel::answered)) request_end_turn();
}

}  // namespace lapse
